"""Streams, groups and pending entries as plain lists and dicts, with the rules for them.

One dataclass a thing, no clock and no commands: `naive` has those. Written from the rules, not from the
engine, as slow and as obvious as can be. Ids are pairs ``(ms, seq)``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

Id: TypeAlias = tuple[int, int]

ZERO: Final[Id] = (0, 0)
COUNT_MAX: Final = (1 << 63) - 1


def text(value: Id) -> str:
    """The id as it is written."""
    return f"{value[0]}-{value[1]}"


@dataclass
class Pending:
    """One pending entry; `consumer` None after a negative acknowledgment, and then `at_ms` is 0, or the time
    before which no consumer can claim the entry."""

    id: Id
    consumer: str | None
    at_ms: int
    count: int

    @property
    def is_delayed(self) -> bool:
        return self.consumer is None and self.at_ms > 0


@dataclass
class Consumer:
    seen_ms: int
    active_ms: int = -1


@dataclass
class Group:
    """`pel` is in the order in which CLAIM takes entries: unowned first, then by delivery time. `held`: the
    entries that the group has passed over and will deliver later, rising."""

    last: Id
    read: int | None
    pel: list[Pending] = field(default_factory=list)
    consumers: dict[str, Consumer] = field(default_factory=dict)
    held: list[Id] = field(default_factory=list)

    def has_read(self, value: Id) -> bool:
        """Whether the group needs neither this entry nor an earlier one as a new one."""
        return value <= self.last and not any(held <= value for held in self.held)

    def find(self, value: Id) -> Pending | None:
        return next((item for item in self.pel if item.id == value), None)

    def drop(self, value: Id) -> int:
        before = len(self.pel)
        self.pel = [item for item in self.pel if item.id != value]
        return before - len(self.pel)

    def put(self, item: Pending) -> None:
        """Insert the entry after all unowned entries, or after all that were delivered earlier or then."""
        self.drop(item.id)
        ahead = [
            other
            for other in self.pel
            if other.consumer is None or (item.consumer is not None and other.at_ms <= item.at_ms)
        ]
        self.pel.insert(len(ahead), item)


@dataclass
class Stream:
    entries: list[tuple[Id, list[str]]] = field(default_factory=list)
    last: Id = ZERO
    max_deleted: Id = ZERO
    added: int = 0
    groups: dict[str, Group] = field(default_factory=dict)
    producers: dict[str, dict[str, Id]] = field(default_factory=dict)
    duration_s: int = 100
    maxsize: int = 100
    keys_added: int = 0
    duplicates: int = 0

    @property
    def first(self) -> Id:
        return self.entries[0][0] if self.entries else ZERO

    def fields(self, value: Id) -> list[str] | None:
        return next((fields for found, fields in self.entries if found == value), None)

    def remove(self, value: Id, *, tombstone: bool = True) -> bool:
        if self.fields(value) is None:
            return False
        self.entries = [entry for entry in self.entries if entry[0] != value]
        if tombstone:
            self.max_deleted = max(self.max_deleted, value)
        return True

    def purge(self, value: Id) -> None:
        for group in self.groups.values():
            group.drop(value)

    def is_referenced(self, value: Id) -> bool:
        """Some group has not read it or holds it pending (rule 15)."""
        return any(value > group.last or group.find(value) for group in self.groups.values())

    def estimate(self, value: Id) -> int | None:
        """How many entries were added up to `value`, if that is known (rule 58)."""
        if self.added == 0:
            return 0
        if not self.entries and value <= self.last:
            return self.added
        if value != ZERO and value < self.max_deleted:
            return None
        if value >= self.last:
            return self.added if value == self.last else None
        if self.max_deleted >= self.first or value > self.first:
            return None
        return self.added - len(self.entries) + (value == self.first)

    def has_tombstone_from(self, value: Id) -> bool:
        return bool(self.entries) and self.max_deleted != ZERO and self.max_deleted >= value

    def lag(self, group: Group) -> int | None:
        """Rule 59, branch by branch; Redis shows a negative number where this is unknown."""
        if self.added == 0 or not self.entries:
            return 0
        if group.last < self.first and self.max_deleted < self.first:
            return len(self.entries)
        known = group.read
        if known is None or self.has_tombstone_from(group.last):
            known = self.estimate(group.last)
        if known is None or known > self.added:
            return None
        return self.added - known + len(group.held)


def trim_rule(policy: str, max_length: int | None = None, min_id: Id = ZERO) -> Callable[[Stream], int]:
    """Trim as XTRIM and XADD do without `~` (rules 15 to 17)."""

    def apply(stream: Stream) -> int:
        removed = 0
        for value, _ in list(stream.entries):
            enough = len(stream.entries) <= max_length if max_length is not None else value >= min_id
            if enough:
                break
            if policy == "ACKED" and stream.is_referenced(value):
                continue
            if policy == "DELREF":
                stream.purge(value)
            removed += stream.remove(value, tombstone=False)
        return removed

    return apply


def delete_one(stream: Stream, policy: str, value: Id, *, acked: bool = False) -> int:
    """Return the reply of XDELEX for one id, and of XACKDEL for an id that it has just acknowledged."""
    gone = stream.fields(value) is None
    if policy == "ACKED" and stream.is_referenced(value):
        return 2
    if policy == "DELREF":
        stream.purge(value)
    if gone:
        return 1 if acked else -1
    stream.remove(value)
    return 1


def capped(stream: Stream, read: int | None) -> int | None:
    return None if read is None else min(read, stream.added)
