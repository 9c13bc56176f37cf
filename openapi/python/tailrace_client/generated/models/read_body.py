from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.read_position import ReadPosition


T = TypeVar("T", bound="ReadBody")


@_attrs_define
class ReadBody:
    """A read of one or several streams.

    Example:
        {'streams': [{'key': 'race:france', 'after': '1692632094485-0'}], 'count': 100}

    """

    streams: list[ReadPosition]
    """ The streams; the response has the same order. """
    count: int | Unset = UNSET
    """ How many entries to return from each stream at most. """
    max_count: int | Unset = UNSET
    """ How many entries to return from all streams together at most; at least `count`. """
    max_bytes: int | Unset = UNSET
    """ The reply ends at this size in bytes, or at `page_bytes_max` if that is smaller. The first entry is always
    returned. """
    wait_ms: int | Unset = UNSET
    """ How many milliseconds to wait if there are no entries; 0 by default. `Prefer: wait=N` also sets it, in
    seconds. """
    min_count: int | Unset = UNSET
    """ While waiting, gather entries: respond when this many of all streams together are available, or after
    `linger_ms`, or at the end of `wait_ms`. 1 by default. """
    linger_ms: int | Unset = UNSET
    """ With `min_count`: wait at most this many milliseconds after the first entry is available. Without it: until
    the end of `wait_ms`. """
    strict: bool | Unset = False
    """ Fail with 410 if entries after the position were trimmed. """

    def to_dict(self) -> dict[str, Any]:
        streams = []
        for streams_item_data in self.streams:
            streams_item = streams_item_data.to_dict()
            streams.append(streams_item)

        count = self.count

        max_count = self.max_count

        max_bytes = self.max_bytes

        wait_ms = self.wait_ms

        min_count = self.min_count

        linger_ms = self.linger_ms

        strict = self.strict

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "streams": streams,
            }
        )
        if count is not UNSET:
            field_dict["count"] = count
        if max_count is not UNSET:
            field_dict["max_count"] = max_count
        if max_bytes is not UNSET:
            field_dict["max_bytes"] = max_bytes
        if wait_ms is not UNSET:
            field_dict["wait_ms"] = wait_ms
        if min_count is not UNSET:
            field_dict["min_count"] = min_count
        if linger_ms is not UNSET:
            field_dict["linger_ms"] = linger_ms
        if strict is not UNSET:
            field_dict["strict"] = strict

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.read_position import ReadPosition  # noqa: PLC0415

        d = dict(src_dict)
        streams = []
        _streams = d.pop("streams")
        for streams_item_data in _streams:
            streams_item = ReadPosition.from_dict(streams_item_data)

            streams.append(streams_item)

        count = d.pop("count", UNSET)

        max_count = d.pop("max_count", UNSET)

        max_bytes = d.pop("max_bytes", UNSET)

        wait_ms = d.pop("wait_ms", UNSET)

        min_count = d.pop("min_count", UNSET)

        linger_ms = d.pop("linger_ms", UNSET)

        strict = d.pop("strict", UNSET)

        read_body = cls(
            streams=streams,
            count=count,
            max_count=max_count,
            max_bytes=max_bytes,
            wait_ms=wait_ms,
            min_count=min_count,
            linger_ms=linger_ms,
            strict=strict,
        )

        return read_body
