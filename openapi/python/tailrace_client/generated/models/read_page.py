from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.stream_slice import StreamSlice


T = TypeVar("T", bound="ReadPage")


@_attrs_define
class ReadPage:
    """All streams of the request, in the same order, including streams without new entries.

    Example:
        {'streams': [{'key': 'race:france', 'entries': [{'id': '1692632102976-0', 'fields': {'rider': 'Prickett',
            'speed': '29.7', 'position': '2', 'location_id': '1'}}], 'next': '1692632102976-0'}]}

    """

    streams: list[StreamSlice]
    """ The streams of the request. """

    def to_dict(self) -> dict[str, Any]:
        streams = []
        for streams_item_data in self.streams:
            streams_item = streams_item_data.to_dict()
            streams.append(streams_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "streams": streams,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.stream_slice import StreamSlice  # noqa: PLC0415

        d = dict(src_dict)
        streams = []
        _streams = d.pop("streams")
        for streams_item_data in _streams:
            streams_item = StreamSlice.from_dict(streams_item_data)

            streams.append(streams_item)

        read_page = cls(
            streams=streams,
        )

        return read_page
