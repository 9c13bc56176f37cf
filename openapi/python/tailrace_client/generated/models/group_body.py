from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="GroupBody")


@_attrs_define
class GroupBody:
    """The position of a new group.

    Example:
        {'after': '0', 'entries_read': 0}

    """

    after: str | Unset = "$"
    """ The group receives the entries after this id. `$` is the stream's last id; `0` means all entries. """
    create_stream: bool | Unset = False
    """ Create an empty stream if it does not exist; without this option the request fails with 404. """
    entries_read: int | Unset = UNSET
    """ How many entries the group counts as read, if you know it. """

    def to_dict(self) -> dict[str, Any]:
        after = self.after

        create_stream = self.create_stream

        entries_read = self.entries_read

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if after is not UNSET:
            field_dict["after"] = after
        if create_stream is not UNSET:
            field_dict["create_stream"] = create_stream
        if entries_read is not UNSET:
            field_dict["entries_read"] = entries_read

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        after = d.pop("after", UNSET)

        create_stream = d.pop("create_stream", UNSET)

        entries_read = d.pop("entries_read", UNSET)

        group_body = cls(
            after=after,
            create_stream=create_stream,
            entries_read=entries_read,
        )

        return group_body
