from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.stream_page_encoding_type_0 import (
    StreamPageEncodingType0,
    check_stream_page_encoding_type_0,
)

if TYPE_CHECKING:
    from ..models.stream_item import StreamItem


T = TypeVar("T", bound="StreamPage")


@_attrs_define
class StreamPage:
    """A page of streams, in byte order of their keys.

    Example:
        {'streams': [{'key': 'race:france', 'length': 3, 'last_id': '1692632102976-0', 'entries_added': 3, 'groups':
            1}], 'next': None}

    """

    streams: list[StreamItem]
    """ The streams. """
    next_: None | str
    """ Send it as `start_after` for the next page; null on the last page. """
    encoding: None | StreamPageEncodingType0
    """ `base64`: the names in this object are base64, because at least one of them is not UTF-8. """

    def to_dict(self) -> dict[str, Any]:
        streams = []
        for streams_item_data in self.streams:
            streams_item = streams_item_data.to_dict()
            streams.append(streams_item)

        next_: None | str
        next_ = self.next_

        encoding: None | str
        if isinstance(self.encoding, str):
            encoding = self.encoding
        else:
            encoding = self.encoding

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "streams": streams,
                "next": next_,
                "encoding": encoding,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.stream_item import StreamItem  # noqa: PLC0415

        d = dict(src_dict)
        streams = []
        _streams = d.pop("streams")
        for streams_item_data in _streams:
            streams_item = StreamItem.from_dict(streams_item_data)

            streams.append(streams_item)

        def _parse_next_(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        next_ = _parse_next_(d.pop("next", None))

        def _parse_encoding(data: object) -> None | StreamPageEncodingType0:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                encoding_type_0 = check_stream_page_encoding_type_0(data)

                return encoding_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | StreamPageEncodingType0, data)

        encoding = _parse_encoding(d.pop("encoding", None))

        stream_page = cls(
            streams=streams,
            next_=next_,
            encoding=encoding,
        )

        return stream_page
