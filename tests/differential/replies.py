"""Replies in the form in which both sides are compared: times within a tolerance, maps without an order.

Each function takes the reply of one side and returns its comparable form; none looks at the other side.
Knows no version of Redis: which members to leave out is an argument.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from tests.differential.vocabulary import Words

Reply: TypeAlias = Any
Flat: TypeAlias = list[Any]
Members: TypeAlias = frozenset[bytes]

TIME_TOLERANCE_MS: Final = 20_000
"""Programs run within a second or two; the times that they set are at least 50 s apart."""

NEVER_MS: Final = -1
"""The time of a consumer that was never active, and the idle time of an entry without an owner."""


@dataclass(frozen=True)
class Near:
    """A time or an idle time: each side has its own clock, so they agree to within the tolerance."""

    ms: int
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Near) and abs(self.ms - other.ms) <= TIME_TOLERANCE_MS


@dataclass(frozen=True)
class Refusal:
    """An error line."""

    line: str


def near(ms: int) -> Near | int:
    """Return `ms` as a time to compare. "never" and 0 are not times of a clock and must be equal."""
    return ms if ms in (NEVER_MS, 0) else Near(ms)


def near_idle(ms: int) -> Near | int:
    """`ms` as an idle time to compare: 0 is as near as any other."""
    return ms if ms == NEVER_MS else Near(ms)


def comparable(words: Words, reply: Reply, omitted: Members) -> Reply:
    """`reply` to `words`, without the members `omitted` of its maps."""
    if isinstance(reply, Refusal):
        return reply
    upper = tuple(word.upper() for word in words[:2])
    shape = _SHAPES.get(upper) or _SHAPES.get(upper[:1])
    if shape is not None:
        return shape(reply)
    described = _MAPS.get(upper)
    return described(reply, omitted) if described else reply


def as_map(flat: Flat, omitted: Members) -> dict[bytes, Any]:
    """A flat RESP2 map as a dict."""
    pairs = zip(flat[::2], flat[1::2], strict=True)
    return {name: value for name, value in pairs if name not in omitted}


def _pending_rows(rows: Reply) -> Reply:
    """XPENDING's extended form, or its summary, which has no times."""
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        return rows
    return [[value, consumer, near_idle(idle_ms), count] for value, consumer, idle_ms, count in rows]


def _read_streams(streams: Reply) -> Reply:
    """XREADGROUP: with CLAIM an entry has its idle time and its deliveries."""
    if streams is None:
        return None
    return [[key, [_read_entry(*entry) for entry in entries]] for key, entries in streams]


def _read_entry(value: bytes, fields: Flat | None, *delivery: int) -> Flat:
    if not delivery:
        return [value, fields]
    idle_ms, count = delivery
    return [value, fields, near_idle(idle_ms), count]


def _consumer_rows(rows: Reply, omitted: Members) -> Reply:
    maps = [as_map(row, omitted) for row in rows]
    for fields in maps:
        _near_members(fields, b"idle", b"inactive", convert=near_idle)
    return maps


def _group_rows(rows: Reply, omitted: Members) -> Reply:
    return [as_map(row, omitted) for row in rows]


def _stream_map(flat: Reply, omitted: Members) -> Reply:
    """XINFO STREAM, short or full."""
    stream = as_map(flat, omitted)
    if isinstance(stream[b"groups"], list):
        stream[b"groups"] = [_full_group(group, omitted) for group in stream[b"groups"]]
    return stream


def _full_group(flat: Flat, omitted: Members) -> dict[bytes, Any]:
    group = as_map(flat, omitted)
    group[b"pending"] = [[*row[:2], near(row[2]), row[3]] for row in group[b"pending"]]
    group[b"consumers"] = [_full_consumer(consumer, omitted) for consumer in group[b"consumers"]]
    return group


def _full_consumer(flat: Flat, omitted: Members) -> dict[bytes, Any]:
    consumer = as_map(flat, omitted)
    _near_members(consumer, b"seen-time", b"active-time", convert=near)
    consumer[b"pending"] = [[value, near(at_ms), count] for value, at_ms, count in consumer[b"pending"]]
    return consumer


def _near_members(fields: dict[bytes, Any], *names: bytes, convert: Callable[[int], Near | int]) -> None:
    for name in names:
        if name in fields:
            fields[name] = convert(fields[name])


_SHAPES: Final[dict[tuple[bytes, ...], Callable[[Reply], Reply]]] = {
    (b"XPENDING",): _pending_rows,
    (b"XREADGROUP",): _read_streams,
    (b"KEYS",): sorted,
}
"""Replies with times or without an order, by the first words of the command."""

_MAPS: Final[dict[tuple[bytes, ...], Callable[[Reply, Members], Reply]]] = {
    (b"XINFO", b"CONSUMERS"): _consumer_rows,
    (b"XINFO", b"GROUPS"): _group_rows,
    (b"XINFO", b"STREAM"): _stream_map,
}
"""Replies that are maps, by the first words of the command."""
