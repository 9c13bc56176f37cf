"""One migration: the survey, the copy, the follow-up until the switch, and the comparison at the end.

It owns the order of these phases, and which streams may be written. The copy of one stream is in `copying`,
the repetition after lost connections in `patience`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from threading import Event
from typing import Final, NamedTuple

from tailrace.app.cli.migrate.comparing import compared, is_part
from tailrace.app.cli.migrate.copying import StreamCopy
from tailrace.app.cli.migrate.entries import Search
from tailrace.app.cli.migrate.facts import (
    StreamFacts,
    WrongType,
    facts_of,
    is_left_out,
    losses_of,
    without_times,
)
from tailrace.app.cli.migrate.policies import held_rules
from tailrace.app.cli.migrate.port import CannotMigrate, Place, one, text
from tailrace.app.cli.migrate.progress import Begun, Meter, Patience
from tailrace.app.cli.output import counted
from tailrace.core.stream_id import ZERO_ID, StreamId

ROUND_S: Final = 1.0
"""The pause between two looks at the source while following."""

_IN_CONFLICT: Final = "in conflict"


class Rules(NamedTuple):
    """What the user allows. `patterns`: of keys. `retry_s`: how long a place may be away."""

    patterns: Sequence[bytes]
    replace: bool
    accept_losses: bool
    retry_s: float


class Surveyed(NamedTuple):
    """One stream of the source. `state`: in words. `conflict`: why it may not be written; empty if it may.

    `losses`: what the target cannot hold. `is_replaced`: the target's stream is deleted first. `after`: the
    last id of the part that the target has.
    """

    key: bytes
    facts: StreamFacts
    state: str
    conflict: str
    losses: list[str]
    is_replaced: bool = False
    is_left_out: bool = False
    after: StreamId = ZERO_ID


class Migration:
    """A migration from `source` to `target`. `say` prints a line for the user."""

    def __init__(
        self, source: Place, target: Place, rules: Rules, begun: Begun, say: Callable[[str], None]
    ) -> None:
        self._source = source
        self._target = target
        self._rules = rules
        self._begun = begun
        self._patiently = Patience(rules.retry_s, say)
        self._known: dict[bytes, StreamFacts] = {}

    # --- before ------------------------------------------------------------------------------------------

    def survey(self, meter: Meter) -> list[Surveyed]:
        """Look at all streams of the source, and at those of the target with the same keys. O(entries) if an
        entry can be too large for the target."""
        return [each for key in self.keys() if (each := self._surveyed(key, meter))]

    def _surveyed(self, key: bytes, meter: Meter) -> Surveyed | None:
        found = self._patiently(partial(self._look_at, key))
        if found is None or found.is_left_out or found.conflict:
            return found
        if self._target.abilities.bounds_entries:
            search = Search(self._source, key, found.after, found.facts.last_id, meter.add)
            self._patiently(search, meter)
            found.losses.extend(search.losses())
        return found

    def keys(self) -> list[bytes]:
        """Return the keys of the source's streams that match, sorted."""
        return self._patiently(lambda: sorted(set(self._source.keys(self._rules.patterns))))

    def _look_at(self, key: bytes) -> Surveyed | None:
        facts = facts_of(self._source, key)
        if facts is None:
            return None
        losses = list(losses_of(key, facts, self._target.abilities))
        if is_left_out(key, facts, self._target.abilities):
            return Surveyed(key, facts, "left out", "", losses, is_left_out=True)
        try:
            present = facts_of(self._target, key)
        except WrongType as error:
            return Surveyed(key, facts, _IN_CONFLICT, f"{error}: delete or rename it first", losses)
        if present is None:
            return Surveyed(key, facts, "new", "", losses)
        return self._beside(key, facts, present, losses)

    def _beside(self, key: bytes, facts: StreamFacts, present: StreamFacts, losses: list[str]) -> Surveyed:
        """Return the survey of a stream that the target has as well."""
        if key in self._begun or is_part(self._source, self._target, key, facts, present):
            state = f"continues after {counted(present.length, 'entry')}"
            return Surveyed(key, facts, state, "", losses, after=present.last_id)
        if self._rules.replace:
            return Surveyed(key, facts, "replaces the target's stream", "", losses, is_replaced=True)
        why = (
            f"the target has a stream of this name (length {present.length:,}) that is not a copy of a part "
            "of the source's stream; use --replace to delete it first, or select other streams with --keys"
        )
        return Surveyed(key, facts, _IN_CONFLICT, why, losses)

    # --- copying -----------------------------------------------------------------------------------------

    def copy(self, streams: Sequence[Surveyed], meter: Meter, *, complete: bool) -> None:
        """Copy the streams. `complete`: the source does not change meanwhile."""
        for each in streams:
            if each.is_replaced:
                # First the deletion, then the record: a crash in between leaves no stream that is not ours.
                self._patiently(partial(one, self._target, b"DEL", each.key))
            self._update(each.key, meter, complete=complete)

    def _update(self, key: bytes, meter: Meter, *, complete: bool) -> None:
        copy = StreamCopy(
            self._source,
            self._target,
            key,
            partial(self._begun.add, key),
            meter.add,
            leaves_out=self._rules.accept_losses,
        )

        def once() -> StreamFacts | None:
            facts = facts_of(self._source, key)
            if facts is not None:
                copy.update(facts, complete=complete)
            return facts

        facts = self._patiently(once, meter)
        if facts is not None:
            self._begun.add(key)
            self._known[key] = facts

    # --- following ---------------------------------------------------------------------------------------

    def follow(self, meter: Meter, stop: Event, until_quiet_s: float | None) -> None:
        """Keep the target up to date until `stop` is set, or until nothing has changed for that time."""
        quiet_since_s = time.monotonic()
        while not stop.wait(ROUND_S):
            if self._round(meter):
                quiet_since_s = time.monotonic()
            elif until_quiet_s is not None and time.monotonic() - quiet_since_s >= until_quiet_s:
                return

    def finish(self, meter: Meter) -> None:
        """Bring all streams up to date completely, once producers and consumers have stopped."""
        self._round(meter)
        for key in sorted(self._known):
            self._update(key, meter, complete=True)

    def _round(self, meter: Meter) -> bool:
        """Copy what has changed since the last round; return whether a stream has changed."""
        keys = set(self.keys())
        has_changed = False
        for key in sorted(keys):
            facts = self._patiently(partial(facts_of, self._source, key))
            known = self._known.get(key)
            if facts is None or facts == known:
                continue
            if known is None and not self._may_begin(key):
                continue
            has_changed |= known is None or without_times(facts) != without_times(known)
            self._update(key, meter, complete=False)
        for key in self._known.keys() - keys:
            self._patiently(partial(one, self._target, b"DEL", key))
            del self._known[key]
            has_changed = True
        return has_changed

    def _may_begin(self, key: bytes) -> bool:
        """Return whether to copy a stream that appeared while following. Raises `CannotMigrate` if it must
        not."""
        found = self._patiently(partial(self._look_at, key))
        if found is None or found.is_left_out:
            return False
        if found.conflict or (found.losses and not self._rules.accept_losses):
            raise CannotMigrate(f"{text(key)} appeared in the source: {found.conflict or found.losses[0]}")
        if found.is_replaced:
            self._patiently(partial(one, self._target, b"DEL", key))
        return True

    # --- the end -----------------------------------------------------------------------------------------

    def set_retention(self) -> None:
        """Give the streams that were copied the retention of the source. From then on the target removes
        entries by itself, so this comes after the comparison."""
        for key, facts in sorted(self._known.items()):
            rules = held_rules(facts.retention, self._target.abilities.retention)
            if rules:
                self._patiently(partial(self._target.retain, key, rules))

    def verify(
        self, keys: Sequence[bytes], meter: Meter, *, is_complete: bool
    ) -> Iterator[tuple[bytes, str]]:
        """Compare the streams `keys` on both sides; yield each difference with its key. `is_complete`: also
        compare their retention."""
        compare = partial(
            compared,
            self._source,
            self._target,
            is_complete=is_complete,
            leaves_out=self._rules.accept_losses,
        )
        for key in keys:
            result = self._patiently(partial(compare, key, meter.add))
            meter.streams += 1
            meter.groups += result.groups
            meter.pending += result.pending
            for difference in result.differences:
                yield key, difference

    def has_changed(self) -> bool:
        """Return whether the source has changed since it was copied."""
        now = {key: self._patiently(partial(facts_of, self._source, key)) for key in self._known}
        return any(
            facts is None or without_times(facts) != without_times(self._known[key])
            for key, facts in now.items()
        )

    @property
    def copied_keys(self) -> list[bytes]:
        """Return the keys of all streams that this run has copied."""
        return sorted(self._known)
