from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="XaddReply")


@_attrs_define
class XaddReply:
    """The id of the new entry.

    Example:
        {'id': '1692632147973-0'}

    """

    id: str
    """ An entry id, `ms-seq`, as a string. """

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "id": id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        xadd_reply = cls(
            id=id,
        )

        return xadd_reply
