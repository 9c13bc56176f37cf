"""Compares both sides of a migration completely: facts, every entry, every pending entry. It changes
nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Final, NamedTuple

from tailrace.app.cli.migrate.entries import entries, excess
from tailrace.app.cli.migrate.facts import GroupFacts, StreamFacts, differences, facts_of
from tailrace.app.cli.migrate.groups import UNOWNED, Delivery, pending_of, with_owners
from tailrace.app.cli.migrate.policies import Rules, held, held_rules, shown, shown_rules
from tailrace.app.cli.migrate.port import Entry, Place, text
from tailrace.core.stream_id import StreamId, format_id

SHOWN_MAX: Final = 5
"""Differences of one kind that are shown one by one."""

PROGRESS_ENTRIES: Final = 5_000


class Compared(NamedTuple):
    """The result for one stream: what was compared, and every difference in words."""

    entries: int
    groups: int
    pending: int
    differences: list[str]


def compared(
    source: Place,
    target: Place,
    key: bytes,
    advance: Callable[[int, int], None],
    *,
    is_complete: bool,
    leaves_out: bool,
) -> Compared:
    """Compare one stream. `advance` is called with a number of entries and their bytes. `is_complete`: the
    target has the retention of the source, too. `leaves_out`: the target lacks the entries that it cannot
    hold."""
    wanted, present = facts_of(source, key), facts_of(target, key)
    if wanted is None or present is None:
        missing = [f"the stream is missing in the {'source' if wanted is None else 'target'}"]
        return Compared(0, 0, 0, [] if wanted is present else missing)
    kept = _Kept(bounded=leaves_out and target.abilities.bounds_entries)
    count, unequal = _entries(source, target, key, advance, kept)
    if kept.left_out:
        wanted = kept.without_left_out(wanted, present)
    found = list(differences(wanted, _without_substitute(wanted, present)))
    found += unequal
    pending = 0
    if source.abilities.group_settings and target.abilities.group_settings:
        found += _settings(wanted, present, target.abilities.settings_held)
    if is_complete and source.abilities.retention and target.abilities.retention:
        found += _retention(held_rules(wanted.retention, target.abilities.retention), present.retention)
    for name in wanted.groups.keys() & present.groups.keys():
        group_pending, unequal = _pending(
            source, target, key, name, (wanted.groups[name], present.groups[name])
        )
        pending += group_pending
        found += [f"group {text(name)}: {difference}" for difference in unequal]
    return Compared(count, len(wanted.groups), pending, found)


def _retention(wanted: Rules, present: Rules) -> Iterator[str]:
    if wanted != present:
        one, other = shown_rules(wanted), shown_rules(present)
        yield f"the retention is {one} in the source and {other} in the target"


def _settings(wanted: StreamFacts, present: StreamFacts, names: frozenset[str] | None) -> Iterator[str]:
    for name in sorted(wanted.groups.keys() & present.groups.keys()):
        one, other = held(wanted.groups[name].settings, names), present.groups[name].settings
        if one != other:
            yield (
                f"group {text(name)}: its settings are {shown(one)} in the source "
                f"and {shown(other)} in the target"
            )


def _without_substitute(source: StreamFacts, target: StreamFacts) -> StreamFacts:
    """Return the target's facts without the consumer that owns what no consumer owns in the source."""
    groups = {}
    for name, group in target.groups.items():
        known = source.groups.get(name)
        extra = known and known.unowned_count and UNOWNED not in known.consumers
        kept = {each: seen for each, seen in group.consumers.items() if not (extra and each == UNOWNED)}
        groups[name] = group._replace(consumers=kept)
    return target._replace(groups=groups)


def is_part(source: Place, target: Place, key: bytes, facts: StreamFacts, present: StreamFacts) -> bool:
    """Return whether everything in the target's stream is also in the source's, so that a copy can continue
    it."""
    if present.last_id > facts.last_id or present.groups.keys() - facts.groups.keys():
        return False
    with closing(entries(source, key)) as wanted, closing(entries(target, key)) as found:
        expected = next(wanted, None)
        for entry in found:
            while expected is not None and expected.id < entry.id:
                expected = next(wanted, None)
            if entry != expected:
                return False
    return True


class _Kept:
    """Takes out of the entries of the source what the target cannot hold, if it is `bounded`."""

    def __init__(self, *, bounded: bool) -> None:
        self._bounded = bounded
        self.left_out: list[StreamId] = []
        self._first_id: StreamId | None = None

    def __call__(self, found: Iterator[Entry]) -> Iterator[Entry]:
        """Yield the other entries."""
        for entry in found:
            if self._bounded and excess(entry):
                self.left_out.append(entry.id)
                continue
            if self._first_id is None:
                self._first_id = entry.id
            yield entry

    def without_left_out(self, wanted: StreamFacts, present: StreamFacts) -> StreamFacts:
        """Return the facts that the target can have. A pending entry that is left out counts as deleted
        there."""
        deleted_id = min(present.max_deleted_id, self.left_out[-1])
        return wanted._replace(
            length=wanted.length - len(self.left_out),
            first_id=self._first_id,
            max_deleted_id=max(wanted.max_deleted_id, deleted_id),
        )


def _entries(
    source: Place, target: Place, key: bytes, advance: Callable[[int, int], None], kept: _Kept
) -> tuple[int, list[str]]:
    """Return the number of the source's entries, and the differences, of which the first are shown."""
    count, size, unequal = 0, 0, 0
    shown: list[str] = []
    with closing(entries(source, key)) as wanted, closing(entries(target, key)) as present:
        for one, other in _side_by_side(kept(wanted), present):
            if one is not None:
                count += 1
                size += sum(map(len, one.fields))
                if not count % PROGRESS_ENTRIES:
                    advance(PROGRESS_ENTRIES, size)
                    size = 0
            if one != other:
                unequal += 1
                if len(shown) < SHOWN_MAX:
                    shown.append(_difference(one, other))
    advance(count % PROGRESS_ENTRIES, size)
    if unequal > len(shown):
        shown.append(f"{unequal - len(shown)} further entries differ")
    return count, shown


def _side_by_side(
    wanted: Iterator[Entry], present: Iterator[Entry]
) -> Iterator[tuple[Entry | None, Entry | None]]:
    """Yield entries with equal ids together; None stands for an entry that one side lacks."""
    one, other = next(wanted, None), next(present, None)
    while one is not None or other is not None:
        if other is None or (one is not None and one.id < other.id):
            yield one, None
            one = next(wanted, None)
        elif one is None or other.id < one.id:
            yield None, other
            other = next(present, None)
        else:
            yield one, other
            one, other = next(wanted, None), next(present, None)


def _difference(one: Entry | None, other: Entry | None) -> str:
    if one is None or other is None:
        entry = one or other
        assert entry is not None
        return f"entry {format_id(entry.id)} is only in the {'source' if other is None else 'target'}"
    return f"entry {format_id(one.id)} has other fields in the target"


def _pending(
    source: Place, target: Place, key: bytes, name: bytes, groups: tuple[GroupFacts, GroupFacts]
) -> tuple[int, list[str]]:
    raw = pending_of(source, key, name, groups[0])
    wanted = with_owners(raw, unowned=target.abilities.unowned)
    present = pending_of(target, key, name, groups[1])
    unequal = sorted(
        value for value in wanted.keys() | present.keys() if wanted.get(value) != present.get(value)
    )
    shown = [
        f"pending entry {format_id(value)} is {_shown(wanted.get(value))} in the source "
        f"and {_shown(present.get(value))} in the target"
        for value in unequal[:SHOWN_MAX]
    ]
    if len(unequal) > SHOWN_MAX:
        shown.append(f"{len(unequal) - SHOWN_MAX} further pending entries differ")
    return len(wanted), shown


def _shown(delivery: Delivery | None) -> str:
    if delivery is None:
        return "missing"
    owner = "nobody" if delivery.consumer is None else text(delivery.consumer)
    return f"owned by {owner} since {delivery.delivered_at_ms} after {delivery.deliveries} deliveries"
