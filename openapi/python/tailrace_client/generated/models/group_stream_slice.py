from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

from ..models.group_stream_slice_encoding import (
    GroupStreamSliceEncoding,
    check_group_stream_slice_encoding,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.delivered_entry import DeliveredEntry


T = TypeVar("T", bound="GroupStreamSlice")


@_attrs_define
class GroupStreamSlice:
    """The entries that a consumer receives from one stream."""

    key: str
    """ The stream's key. """
    entries: list[DeliveredEntry]
    """ Claimed entries first, then new ones. """
    next_: str
    """ The last id returned, or the requested position if no entry was returned. To continue reading the consumer's
    own pending entries, send it as `id`. """
    encoding: GroupStreamSliceEncoding | Unset = UNSET
    """ `base64`: the names in this object are base64, because at least one of them is not UTF-8. """

    def to_dict(self) -> dict[str, Any]:
        key = self.key

        entries = []
        for entries_item_data in self.entries:
            entries_item = entries_item_data.to_dict()
            entries.append(entries_item)

        next_ = self.next_

        encoding: str | Unset = UNSET
        if not isinstance(self.encoding, Unset):
            encoding = self.encoding

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "key": key,
                "entries": entries,
                "next": next_,
            }
        )
        if encoding is not UNSET:
            field_dict["encoding"] = encoding

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.delivered_entry import DeliveredEntry  # noqa: PLC0415

        d = dict(src_dict)
        key = d.pop("key")

        entries = []
        _entries = d.pop("entries")
        for entries_item_data in _entries:
            entries_item = DeliveredEntry.from_dict(entries_item_data)

            entries.append(entries_item)

        next_ = d.pop("next")

        _encoding = d.pop("encoding", UNSET)
        encoding: GroupStreamSliceEncoding | Unset
        if isinstance(_encoding, Unset):
            encoding = UNSET
        else:
            encoding = check_group_stream_slice_encoding(_encoding)

        group_stream_slice = cls(
            key=key,
            entries=entries,
            next_=next_,
            encoding=encoding,
        )

        return group_stream_slice
