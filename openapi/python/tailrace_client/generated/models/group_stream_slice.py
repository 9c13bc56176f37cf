from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.group_stream_slice_encoding_type_0 import (
    GroupStreamSliceEncodingType0,
    check_group_stream_slice_encoding_type_0,
)

if TYPE_CHECKING:
    from ..models.delivered_entry import DeliveredEntry


T = TypeVar("T", bound="GroupStreamSlice")


@_attrs_define
class GroupStreamSlice:
    """The entries that a consumer receives from one stream."""

    key: str
    """ The stream's key. """
    encoding: GroupStreamSliceEncodingType0 | None
    """ `base64`: the names in this object are base64, because at least one of them is not UTF-8. """
    entries: list[DeliveredEntry]
    """ Claimed entries first, then new ones. """
    next_: str
    """ The last id returned, or the requested position if no entry was returned. To continue reading the consumer's
    own pending entries, send it as `id`. """

    def to_dict(self) -> dict[str, Any]:
        key = self.key

        encoding: None | str
        if isinstance(self.encoding, str):
            encoding = self.encoding
        else:
            encoding = self.encoding

        entries = []
        for entries_item_data in self.entries:
            entries_item = entries_item_data.to_dict()
            entries.append(entries_item)

        next_ = self.next_

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "key": key,
                "encoding": encoding,
                "entries": entries,
                "next": next_,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.delivered_entry import DeliveredEntry  # noqa: PLC0415

        d = dict(src_dict)
        key = d.pop("key")

        def _parse_encoding(data: object) -> GroupStreamSliceEncodingType0 | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                encoding_type_0 = check_group_stream_slice_encoding_type_0(data)

                return encoding_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(GroupStreamSliceEncodingType0 | None, data)

        encoding = _parse_encoding(d.pop("encoding", None))

        entries = []
        _entries = d.pop("entries")
        for entries_item_data in _entries:
            entries_item = DeliveredEntry.from_dict(entries_item_data)

            entries.append(entries_item)

        next_ = d.pop("next")

        group_stream_slice = cls(
            key=key,
            encoding=encoding,
            entries=entries,
            next_=next_,
        )

        return group_stream_slice
