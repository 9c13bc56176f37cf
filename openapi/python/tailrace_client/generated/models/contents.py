from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="Contents")


@_attrs_define
class Contents:
    """Everything that the server keeps, counted.

    Example:
        {'streams': 12, 'entries': 4096, 'groups': 3, 'pending_entries': 17}

    """

    streams: int
    """ Streams. """
    entries: int
    """ Entries of all streams. """
    groups: int
    """ Consumer groups of all streams. """
    pending_entries: int
    """ Pending entries of all groups. """

    def to_dict(self) -> dict[str, Any]:
        streams = self.streams

        entries = self.entries

        groups = self.groups

        pending_entries = self.pending_entries

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "streams": streams,
                "entries": entries,
                "groups": groups,
                "pending_entries": pending_entries,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        streams = d.pop("streams")

        entries = d.pop("entries")

        groups = d.pop("groups")

        pending_entries = d.pop("pending_entries")

        contents = cls(
            streams=streams,
            entries=entries,
            groups=groups,
            pending_entries=pending_entries,
        )

        return contents
