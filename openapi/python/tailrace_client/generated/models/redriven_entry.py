from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="RedrivenEntry")


@_attrs_define
class RedrivenEntry:
    """A dead letter that was sent back.

    Example:
        {'id': '1692632147973-0', 'new_id': '1692632147973-0'}

    """

    id: str
    """ Its id in the dead-letter stream, from which it was deleted. """
    new_id: str
    """ Its new id in the group's stream. """

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        new_id = self.new_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "id": id,
                "new_id": new_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        new_id = d.pop("new_id")

        redriven_entry = cls(
            id=id,
            new_id=new_id,
        )

        return redriven_entry
