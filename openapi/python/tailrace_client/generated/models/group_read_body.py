from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

from ..models.group_read_body_encoding import (
    GroupReadBodyEncoding,
    check_group_read_body_encoding,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.group_read_position import GroupReadPosition


T = TypeVar("T", bound="GroupReadBody")


@_attrs_define
class GroupReadBody:
    """A read by one consumer of a group.

    Example:
        {'group': 'judges', 'consumer': 'alice', 'streams': [{'key': 'race:france', 'id': '>'}], 'count': 100}

    """

    group: str
    """ The consumer group; it must exist on all of the streams. """
    consumer: str
    """ The consumer; created if it does not exist. """
    streams: list[GroupReadPosition]
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
    encoding: GroupReadBodyEncoding | Unset = UNSET
    """ `base64`: the names in this object are base64, because at least one of them is not UTF-8. """
    claim_min_idle_ms: int | Unset = UNSET
    """ First claim entries that have been pending for any consumer at least this many milliseconds, then read new
    entries. `count` limits both together for each stream, `max_count` for all streams. """
    noack: bool | Unset = False
    """ New entries do not become pending, so they need no acknowledgment. """

    def to_dict(self) -> dict[str, Any]:
        group = self.group

        consumer = self.consumer

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

        encoding: str | Unset = UNSET
        if not isinstance(self.encoding, Unset):
            encoding = self.encoding

        claim_min_idle_ms = self.claim_min_idle_ms

        noack = self.noack

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "group": group,
                "consumer": consumer,
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
        if encoding is not UNSET:
            field_dict["encoding"] = encoding
        if claim_min_idle_ms is not UNSET:
            field_dict["claim_min_idle_ms"] = claim_min_idle_ms
        if noack is not UNSET:
            field_dict["noack"] = noack

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.group_read_position import GroupReadPosition  # noqa: PLC0415

        d = dict(src_dict)
        group = d.pop("group")

        consumer = d.pop("consumer")

        streams = []
        _streams = d.pop("streams")
        for streams_item_data in _streams:
            streams_item = GroupReadPosition.from_dict(streams_item_data)

            streams.append(streams_item)

        count = d.pop("count", UNSET)

        max_count = d.pop("max_count", UNSET)

        max_bytes = d.pop("max_bytes", UNSET)

        wait_ms = d.pop("wait_ms", UNSET)

        min_count = d.pop("min_count", UNSET)

        linger_ms = d.pop("linger_ms", UNSET)

        _encoding = d.pop("encoding", UNSET)
        encoding: GroupReadBodyEncoding | Unset
        if isinstance(_encoding, Unset):
            encoding = UNSET
        else:
            encoding = check_group_read_body_encoding(_encoding)

        claim_min_idle_ms = d.pop("claim_min_idle_ms", UNSET)

        noack = d.pop("noack", UNSET)

        group_read_body = cls(
            group=group,
            consumer=consumer,
            streams=streams,
            count=count,
            max_count=max_count,
            max_bytes=max_bytes,
            wait_ms=wait_ms,
            min_count=min_count,
            linger_ms=linger_ms,
            encoding=encoding,
            claim_min_idle_ms=claim_min_idle_ms,
            noack=noack,
        )

        return group_read_body
