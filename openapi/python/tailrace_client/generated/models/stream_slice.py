from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.stream_slice_encoding_type_0 import (
    StreamSliceEncodingType0,
    check_stream_slice_encoding_type_0,
)

if TYPE_CHECKING:
    from ..models.entry import Entry


T = TypeVar("T", bound="StreamSlice")


@_attrs_define
class StreamSlice:
    """The entries of one stream. It has `incarnation` only if its position in the request had one."""

    key: str
    """ The stream's key. """
    encoding: None | StreamSliceEncodingType0
    """ `base64`: the names in this object are base64, because at least one of them is not UTF-8. """
    entries: list[Entry]
    """ The entries, oldest first. """
    next_: str
    """ The position for `after` of the next read; always an id, also if `after` was `$`. """
    incarnation: None | str
    """ An opaque text that tells the stream from every other one, also from one that is created under the same key
    after a deletion. A rename keeps it. Absent if the stream does not exist, or if the store keeps none. """

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

        incarnation: None | str
        incarnation = self.incarnation

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "key": key,
                "encoding": encoding,
                "entries": entries,
                "next": next_,
                "incarnation": incarnation,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.entry import Entry  # noqa: PLC0415

        d = dict(src_dict)
        key = d.pop("key")

        def _parse_encoding(data: object) -> None | StreamSliceEncodingType0:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                encoding_type_0 = check_stream_slice_encoding_type_0(data)

                return encoding_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | StreamSliceEncodingType0, data)

        encoding = _parse_encoding(d.pop("encoding", None))

        entries = []
        _entries = d.pop("entries")
        for entries_item_data in _entries:
            entries_item = Entry.from_dict(entries_item_data)

            entries.append(entries_item)

        next_ = d.pop("next")

        def _parse_incarnation(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        incarnation = _parse_incarnation(d.pop("incarnation", None))

        stream_slice = cls(
            key=key,
            encoding=encoding,
            entries=entries,
            next_=next_,
            incarnation=incarnation,
        )

        return stream_slice
