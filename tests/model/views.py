"""The state of the naive model, in the form of XINFO STREAM FULL. It changes nothing."""

from __future__ import annotations

from typing import Any

from tests.model.streams import Consumer, Group, Pending, Stream, text


def full(stream: Stream) -> dict[str, Any]:
    """XINFO STREAM FULL COUNT 0 as a dict."""
    return {
        "length": len(stream.entries),
        "last-generated-id": text(stream.last),
        "max-deleted-entry-id": text(stream.max_deleted),
        "entries-added": stream.added,
        "recorded-first-entry-id": text(stream.first),
        "idmp-duration": stream.duration_s,
        "idmp-maxsize": stream.maxsize,
        "pids-tracked": len(stream.producers),
        "iids-tracked": sum(map(len, stream.producers.values())),
        "iids-added": stream.keys_added,
        "iids-duplicates": stream.duplicates,
        "entries": [[text(value), fields] for value, fields in stream.entries],
        "groups": [_full_group(stream, name, group) for name, group in sorted(stream.groups.items())],
    }


def _full_group(stream: Stream, name: str, group: Group) -> dict[str, Any]:
    by_id = sorted(group.pel, key=lambda item: item.id)
    return {
        "name": name,
        "last-delivered-id": text(group.last),
        "entries-read": group.read,
        "lag": stream.lag(group),
        **({"first-held-id": text(group.held[0])} if group.held else {}),
        "pel-count": len(by_id),
        "nacked-count": sum(item.consumer is None for item in by_id),
        "pending": [
            # A delayed entry has no owner, and no time of delivery.
            [text(item.id), item.consumer or "", item.at_ms if item.consumer is not None else 0, item.count]
            for item in by_id
        ],
        "consumers": [
            _full_consumer(who, consumer, by_id) for who, consumer in sorted(group.consumers.items())
        ],
    }


def _full_consumer(name: str, consumer: Consumer, by_id: list[Pending]) -> dict[str, Any]:
    mine = [[text(item.id), item.at_ms, item.count] for item in by_id if item.consumer == name]
    return {
        "name": name,
        "seen-time": consumer.seen_ms,
        "active-time": consumer.active_ms,
        "pel-count": len(mine),
        "pending": mine,
    }
