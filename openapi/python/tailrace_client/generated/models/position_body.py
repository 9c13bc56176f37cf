from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="PositionBody")


@_attrs_define
class PositionBody:
    """New values for the counters of a stream.

    Example:
        {'last_id': '1692632200000-0', 'entries_added': 4}

    """

    last_id: str
    """ The stream's new last id; later entries get greater ids. """
    entries_added: int | Unset = UNSET
    """ How many entries were ever added. """
    max_deleted_id: str | Unset = UNSET
    """ The greatest id that was ever deleted. """

    def to_dict(self) -> dict[str, Any]:
        last_id = self.last_id

        entries_added = self.entries_added

        max_deleted_id = self.max_deleted_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "last_id": last_id,
            }
        )
        if entries_added is not UNSET:
            field_dict["entries_added"] = entries_added
        if max_deleted_id is not UNSET:
            field_dict["max_deleted_id"] = max_deleted_id

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        last_id = d.pop("last_id")

        entries_added = d.pop("entries_added", UNSET)

        max_deleted_id = d.pop("max_deleted_id", UNSET)

        position_body = cls(
            last_id=last_id,
            entries_added=entries_added,
            max_deleted_id=max_deleted_id,
        )

        return position_body
