from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.group_stream_slice import GroupStreamSlice


T = TypeVar("T", bound="GroupReadPage")


@_attrs_define
class GroupReadPage:
    """All streams of the request, in the same order, including streams without new entries.

    Example:
        {'streams': [{'key': 'race:france', 'entries': [{'id': '1692632102976-0', 'fields': {'rider': 'Prickett',
            'speed': '29.7', 'position': '2', 'location_id': '1'}, 'idle_ms': 0, 'deliveries': 0}], 'next':
            '1692632102976-0'}]}

    """

    streams: list[GroupStreamSlice]
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
        from ..models.group_stream_slice import GroupStreamSlice  # noqa: PLC0415

        d = dict(src_dict)
        streams = []
        _streams = d.pop("streams")
        for streams_item_data in _streams:
            streams_item = GroupStreamSlice.from_dict(streams_item_data)

            streams.append(streams_item)

        group_read_page = cls(
            streams=streams,
        )

        return group_read_page
