"""The naive model with all policies: the group `g` of `s` also has a filter, and both streams have retention.

It repeats each rule in a few lines. `gone` is the account of what the policies and deletions have removed: an
entry is in it only if it was unread or pending in `g`, or a dead letter, when it was removed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from tailrace.core.retention import RetentionRules
from tests.model.dead_letters import GROUP, SOURCE
from tests.model.leases import LeaseModel
from tests.model.naive import Budget
from tests.model.streams import Group, Id, Pending, Stream, text

Fields = list[str]

FILTERS: Final[dict[str | None, Callable[[Fields], bool]]] = {
    None: lambda _: True,
    "false": lambda _: False,
    "fields.kind == 'a'": lambda fields: fields[3] == "a",
    "fields.kind != 'a'": lambda fields: fields[3] != "a",
}
"""The filters of the model, and what they mean for entries with the fields `n` and `kind`."""

NO_RULES: Final = RetentionRules()


class PolicyModel(LeaseModel):
    """`filter`: of `g`. `rules`: the retention of each stream; `removed`: how many entries it removed."""

    def __init__(self, now_ms: int) -> None:
        super().__init__(now_ms)
        self.filter: str | None = None
        self.rules: dict[str, RetentionRules] = {}
        self.removed: dict[str, int] = {}
        self.gone: set[str] = set()

    def is_open(self, value: Id) -> bool:
        """Whether the entry of `s` is unread or pending in `g`."""
        group = self.streams[SOURCE].groups[GROUP]
        return value > group.last or value in group.held or group.find(value) is not None

    def account(self, key: str, value: Id) -> None:
        """Note that the entry is about to be removed from the stream, unless it also exists elsewhere."""
        fields = self.streams[key].fields(value)
        if fields is not None and (key != SOURCE or self.is_open(value)):
            self.gone.add(fields[1])
        if key == SOURCE:
            group = self.streams[SOURCE].groups[GROUP]
            group.held = [held for held in group.held if held != value]

    # --- retention -------------------------------------------------------------------------------

    def retain(self, key: str, rules: RetentionRules) -> None:
        if not rules.removes:
            self.removed[key] = 0
        self.rules[key] = rules if rules.removes else NO_RULES

    def sweep(self) -> dict[str, list[Id]]:
        """Remove the first entries of each stream, as long as a rule removes the first one."""
        return {key: self._swept(key, rules) for key, rules in self.rules.items()}

    def _swept(self, key: str, rules: RetentionRules) -> list[Id]:
        stream, removed = self.streams[key], []
        while stream.entries and self._goes(stream, rules):
            value = stream.first
            self.account(key, value)
            stream.remove(value, tombstone=False)
            removed.append(value)
        self.removed[key] = self.removed.get(key, 0) + len(removed)
        for group in stream.groups.values() if rules.removes else ():
            group.pel = [item for item in group.pel if stream.entries and item.id >= stream.first]
        return removed

    def _goes(self, stream: Stream, rules: RetentionRules) -> bool:
        value, groups = stream.first, stream.groups.values()
        if rules.protect_unread and not all(group.has_read(value) for group in groups):
            return False
        is_old = rules.max_age_ms is not None and value[0] < self.now_ms - rules.max_age_ms
        is_above = rules.max_length is not None and len(stream.entries) > rules.max_length
        size = sum(_size_of(fields) for _, fields in stream.entries)
        is_large = rules.max_bytes is not None and size > rules.max_bytes and len(stream.entries) > 1
        is_done = bool(groups) and all(
            group.has_read(value) and not any(item.id <= value for item in group.pel) for group in groups
        )
        return is_old or is_above or is_large or (rules.acknowledged and is_done)

    # --- the filter and the lag ------------------------------------------------------------------

    def matches(self, fields: Fields) -> bool:
        return FILTERS[self.filter](fields)

    def _fresh(
        self, stream: Stream, group: Group, consumer: str, budget: Budget, *, noack: bool
    ) -> list[Any]:
        """Deliver what matches; the others count as read, up to the next entry that would be delivered."""
        entries: list[Any] = []
        is_filtered = group is self.streams[SOURCE].groups[GROUP]
        if budget.in_stream >= budget.count:
            return entries
        for value, fields in stream.entries:
            if value <= group.last:
                continue
            is_wanted = not is_filtered or self.matches(fields)
            if is_wanted and not budget.take():
                break
            behind = group.last < stream.first or stream.has_tombstone_from(group.last)
            group.read = stream.estimate(value) if group.read is None or behind else group.read + 1
            group.last = value
            if is_wanted:
                entries.append([text(value), fields])
                if not noack:
                    group.put(Pending(value, consumer, self.now_ms, 1))
        return entries

    def lag_ms(self, name: str) -> int | None:
        """The age of the oldest entry that the group has not read."""
        stream = self.streams[SOURCE]
        group = stream.groups[name]
        unread = [*group.held, *(value for value, _ in stream.entries if value > group.last)]
        return max(self.now_ms - unread[0][0], 0) if unread else None

    # --- reads that gather -----------------------------------------------------------------------

    def gathers(self, min_count: int) -> bool:
        """Whether a waiting read with `min_count` waits for more: nothing to claim, and too few entries."""
        stream = self.streams[SOURCE]
        group = stream.groups[GROUP]
        may_claim = self.claim_ms is not None and any(
            self.idle_ms(item) >= self.claim_ms
            for item in group.pel
            if not item.is_delayed and stream.fields(item.id) is not None
        )
        unread = sum(value > group.last and self.matches(fields) for value, fields in stream.entries)
        return not may_claim and unread < min_count

    def wait(self, consumer: str) -> None:
        """A read that waits is seen, and takes nothing."""
        self._see(self.streams[SOURCE].groups[GROUP], consumer)


def _size_of(fields: Fields) -> int:
    named = dict(zip(fields[::2], fields[1::2], strict=True))
    return len(json.dumps(named, separators=(",", ":")))
