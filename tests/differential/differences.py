"""The differences between Redis 7.0.15 and today's semantics that are allowed, each by name and reason.

Whatever is not here must be equal. Each function takes what one side answered and gives what both can
be compared by; none looks at the other side's answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from core.stream_id import StreamId, parse_id
from tests.differential.vocabulary import Words

Reply: TypeAlias = Any
Flat: TypeAlias = list[Any]

TIME_TOLERANCE_MS: Final = 20_000
"""Programs run within a second or two; the times they set lie 50 s and more apart."""


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


# --- what came after 7.0 ---------------------------------------------------------------------------

LATER_MEMBERS: Final = frozenset(
    {
        *(
            b"idmp-duration",
            b"idmp-maxsize",
            b"pids-tracked",
            b"iids-tracked",
            b"iids-added",
            b"iids-duplicates",
        ),
        *(b"nacked-count", b"active-time", b"inactive"),
    }
)
"""XINFO has them since 7.2 (active-time, inactive), 8.6 (idempotency) and 8.8 (nacked-count)."""

OWN_MEMBERS: Final = frozenset({b"radix-tree-keys", b"radix-tree-nodes"})
"""How many nodes a tree has is each implementation's own, and Redis may keep one of deleted entries
only; that nodes end at the same entries shows in what approximate trimming removes."""

UNBALANCED: Final = (
    "ERR Unbalanced XREAD list of streams: for each stream key an ID or '$' must be specified."
)
UNBALANCED_TODAY: Final = {
    b"XREAD": (
        "ERR Unbalanced 'xread' list of streams: for each stream key an ID, '+', or '$' must be specified."
    ),
    b"XREADGROUP": (
        "ERR Unbalanced 'xreadgroup' list of streams: for each stream key an ID or '>' must be specified."
    ),
}


TOO_LARGE: Final = "ERR Elements are too large to be stored"
NOT_GREATER: Final = "ERR The ID specified in XADD is equal or smaller than the target stream top item"


def as_worded_today(words: Words, line: str) -> str:
    """7.0.15 says XREAD to an odd list of streams of XREADGROUP too; today each has its own line. And it
    calls the entry too large (none of these is) where the sequence of ``ms-*`` overflows (rule 6)."""
    if line == TOO_LARGE:
        return NOT_GREATER
    return UNBALANCED_TODAY[words[0].upper()] if line == UNBALANCED else line


def without_raw_words(words: Words, line: str) -> str:
    """The line for an unknown command repeats its words: Redis sends raw bytes and stops at a NUL, the
    engine's lines are text. Such a line is compared by what stands before the words."""
    is_text = all(word.isascii() and b"\0" not in word for word in words)
    return line if is_text else line.split(", with args", maxsplit=1)[0]


XSETID_BELOW_DELETED: Final = "ERR The ID specified in XSETID is smaller than current max_deleted_entry_id"
"""7.0.15 does not compare the id with the greatest deleted one (rule 65), so it accepts what today is
refused. The two streams differ from there on: the program ends."""


def ends_the_program(ours: Reply) -> bool:
    """Whether nothing after this answer can be compared."""
    return isinstance(ours, Refusal) and ours.line == XSETID_BELOW_DELETED


def counts_reads_blindly(group: dict[bytes, Any], first_id: StreamId, max_deleted_id: StreamId) -> bool:
    """Whether 7.0.15 would add one to the entries read where today they are estimated anew (rule 57).

    It does not ask whether the group stands before the stream's first entry, and it looks for deleted
    entries after the entry just read, where today they count from the group's position on.
    """
    last_id = parse_id(group[b"last-delivered-id"])
    return group[b"entries-read"] is not None and (last_id < first_id or last_id <= max_deleted_id)


def created_by_an_empty_read(main: Reply, probe: Reply) -> Reply:
    """7.0.15 creates no consumer where a read or a claim yields nothing (rules 28 and 51).

    `probe` is its answer to XGROUP CREATECONSUMER just after `main`: where `main` succeeded, the
    consumer must stand already, as it does today.
    """
    return probe if isinstance(main, Refusal) or probe not in (0, 1) else 0


def with_early_lag(
    group: dict[bytes, Any], length: int, first_id: StreamId, max_deleted_id: StreamId
) -> None:
    """7.0.15 lacks the early branches of lag: an empty stream, and both behind its first entry (rule 59)."""
    last_id = parse_id(group[b"last-delivered-id"])
    if length == 0:
        group[b"lag"] = 0
    elif last_id < first_id and max_deleted_id < first_id:
        group[b"lag"] = length


# --- replies as both sides can be compared by --------------------------------------------------------


def as_map(flat: Flat) -> dict[bytes, Any]:
    """A flat RESP2 map as a dict, without the members that only one side has."""
    pairs = zip(flat[::2], flat[1::2], strict=True)
    return {name: value for name, value in pairs if name not in LATER_MEMBERS | OWN_MEMBERS}


def _times(name: bytes, fields: dict[bytes, Any]) -> None:
    if name in fields:
        fields[name] = Near(fields[name])


def pending_rows(rows: Reply) -> Reply:
    """XPENDING's extended form, or its summary, which holds no times."""
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        return rows
    return [[value, consumer, Near(idle_ms), count] for value, consumer, idle_ms, count in rows]


def consumer_rows(rows: Reply) -> Reply:
    """XINFO CONSUMERS."""
    maps = [as_map(row) for row in rows]
    for fields in maps:
        _times(b"idle", fields)
    return maps


def group_rows(rows: Reply) -> Reply:
    """XINFO GROUPS."""
    return [as_map(row) for row in rows]


def stream_map(flat: Reply) -> Reply:
    """XINFO STREAM, short or full."""
    stream = as_map(flat)
    if isinstance(stream[b"groups"], list):
        stream[b"groups"] = [_full_group(group) for group in stream[b"groups"]]
    return stream


def _full_group(flat: Flat) -> dict[bytes, Any]:
    group = as_map(flat)
    group[b"pending"] = [[*row[:2], Near(row[2]), row[3]] for row in group[b"pending"]]
    group[b"consumers"] = [_full_consumer(consumer) for consumer in group[b"consumers"]]
    return group


def _full_consumer(flat: Flat) -> dict[bytes, Any]:
    consumer = as_map(flat)
    _times(b"seen-time", consumer)
    consumer[b"pending"] = [[value, Near(at_ms), count] for value, at_ms, count in consumer[b"pending"]]
    return consumer


def without_read_counters(group: dict[bytes, Any]) -> None:
    """For a group whose counters came apart: by `counts_reads_blindly`, or by an ENTRIESREAD above the
    entries added, which is capped since 8.2.2 (rule 56)."""
    del group[b"entries-read"], group[b"lag"]


SHAPES: Final[dict[tuple[bytes, ...], Callable[[Reply], Reply]]] = {
    (b"XPENDING",): pending_rows,
    (b"XINFO", b"CONSUMERS"): consumer_rows,
    (b"XINFO", b"GROUPS"): group_rows,
    (b"XINFO", b"STREAM"): stream_map,
    (b"KEYS",): sorted,
}
"""Replies that hold times, later members or no order of their own, by the command's first words."""


def comparable(words: Words, reply: Reply) -> Reply:
    """`reply` to `words`, without what the two sides cannot have in common."""
    if isinstance(reply, Refusal):
        return reply
    upper = tuple(word.upper() for word in words[:2])
    shape = SHAPES.get(upper) or SHAPES.get(upper[:1])
    return shape(reply) if shape else reply
