from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="GroupPositionBody")


@_attrs_define
class GroupPositionBody:
    """The position from which a group continues.

    Example:
        {'after': '0'}

    """

    after: str
    """ The group receives the entries after this id; `$` is the stream's last id. """
    entries_read: int | Unset = UNSET
    """ How many entries the group counts as read, if you know it. """

    def to_dict(self) -> dict[str, Any]:
        after = self.after

        entries_read = self.entries_read

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "after": after,
            }
        )
        if entries_read is not UNSET:
            field_dict["entries_read"] = entries_read

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        after = d.pop("after")

        entries_read = d.pop("entries_read", UNSET)

        group_position_body = cls(
            after=after,
            entries_read=entries_read,
        )

        return group_position_body
