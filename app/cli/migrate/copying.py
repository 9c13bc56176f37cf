"""Brings one stream of the target up to date. The docstring of the package lists the steps, and why
repeating them does no harm.

It deletes from the target what the source does not have: placeholders, trimmed entries, deleted entries.
Entries below the source's first one are removed by a trim, which leaves the max deleted id as it is; the
others by XDEL, as in the source. It never deletes an entry that the source has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import chain
from typing import Final

from tailrace.app.cli.migrate.entries import (
    PLACEHOLDER,
    batches,
    entries,
    excess,
    pages,
    read_ahead,
    size_of,
    with_placeholders,
    within_limits,
)
from tailrace.app.cli.migrate.facts import NO_EXPIRY, StreamFacts, facts_of
from tailrace.app.cli.migrate.groups import Pending, changes, pending_of, position, requests, with_owners
from tailrace.app.cli.migrate.policies import NO_RULES, NO_SETTINGS, held
from tailrace.app.cli.migrate.port import Place, Words, number, one, run_all
from tailrace.core.stream_id import ZERO_ID, StreamId, format_id

# --- deletions ----------------------------------------------------------------------------------


IDS_PER_COMMAND: Final = 1_000


def delete_surplus(
    source: Place,
    target: Place,
    key: bytes,
    facts: StreamFacts,
    placeholders: Sequence[StreamId],
    *,
    complete: bool,
) -> None:
    """Delete trimmed entries and placeholders. `complete`: and all others that the source has not.

    `complete` reads both streams if their lengths differ, so it is for a source that does not change.
    """
    one(target, *_trim(key, facts))
    kept = [value for value in placeholders if facts.first_id is not None and value >= facts.first_id]
    _delete(target, key, kept)
    if complete and number(one(target, b"XLEN", key)) != facts.length:
        _delete(target, key, list(_surplus(source, target, key)))


def _trim(key: bytes, facts: StreamFacts) -> Words:
    if facts.first_id is None:
        return (b"XTRIM", key, b"MAXLEN", b"=", b"0")
    return (b"XTRIM", key, b"MINID", b"=", format_id(facts.first_id).encode())


def _surplus(source: Place, target: Place, key: bytes) -> Iterator[StreamId]:
    """Return the ids of entries of the target that the source has not, or that the target cannot hold: these
    are placeholders. Both are read completely."""
    with closing(entries(source, key)) as wanted, closing(entries(target, key)) as present:
        held = (each for each in wanted if not (target.abilities.bounds_entries and excess(each)))
        expected = next(held, None)
        for entry in present:
            while expected is not None and expected.id < entry.id:
                expected = next(held, None)
            if expected is None or expected.id != entry.id:
                yield entry.id


def _delete(target: Place, key: bytes, ids: Sequence[StreamId]) -> None:
    for start in range(0, len(ids), IDS_PER_COMMAND):
        some = ids[start : start + IDS_PER_COMMAND]
        one(target, b"XDEL", key, *(format_id(value).encode() for value in some))


# --- one stream ---------------------------------------------------------------------------------


Appended = Callable[[int, int], None]
"""Is called after each batch with its entries and bytes."""

_TEMPORARY_GROUP = b"tailrace-migrate"


class StreamCopy:
    """The copy of the stream `key`. `begin` is called before the first write to a stream that does not
    exist. `leaves_out`: entries that the target cannot hold are no error."""

    def __init__(
        self,
        source: Place,
        target: Place,
        key: bytes,
        begin: Callable[[], None],
        appended: Appended,
        *,
        leaves_out: bool,
    ) -> None:
        self._source = source
        self._target = target
        self._key = key
        self._begin = begin
        self._appended = appended
        self._leaves_out = leaves_out

    def update(self, facts: StreamFacts, *, complete: bool) -> None:
        """Copy what is new since the last update. `facts`: of the source, just read.

        `complete`: the source does not change, so also repeat deletions inside the stream.
        """
        present = self._present(facts)
        self._remove_settings(present)
        pending = {name: self._pending(name, facts) for name in facts.groups}
        placeholders = self._copy_entries(facts, present, pending)
        self._copy_groups(facts, present, pending)
        delete_surplus(self._source, self._target, self._key, facts, placeholders, complete=complete)
        run_all(self._target, self._last_steps(facts), self._key)
        if complete and self._target.abilities.group_settings:
            for name, group in facts.groups.items():
                settings = held(group.settings, self._target.abilities.settings_held)
                if settings:
                    self._target.configure(self._key, name, settings)

    def _remove_settings(self, present: StreamFacts | None) -> None:
        """Remove the policies of the target, under which it would move or remove entries of the copy."""
        if present is not None and present.retention:
            self._target.retain(self._key, NO_RULES)
        for name, group in ({} if present is None else present.groups).items():
            if group.settings:
                self._target.configure(self._key, name, NO_SETTINGS)

    def remove(self) -> None:
        """Delete the stream from the target: the source has it no more."""
        one(self._target, b"DEL", self._key)

    def _present(self, facts: StreamFacts) -> StreamFacts | None:
        """Return the facts of the target; a stream that the source has created again is deleted first."""
        present = facts_of(self._target, self._key)
        if present is not None and present.last_id > facts.last_id:
            self.remove()
            return None
        return present

    def _pending(self, name: bytes, facts: StreamFacts) -> Pending:
        found = pending_of(self._source, self._key, name, facts.groups[name])
        return with_owners(found, unowned=self._target.abilities.unowned)

    def _copy_entries(
        self, facts: StreamFacts, present: StreamFacts | None, pending: dict[bytes, Pending]
    ) -> list[StreamId]:
        """Append the missing entries and placeholders; return the ids of the placeholders."""
        if present is None:
            self._begin()
            self._create()
        after = ZERO_ID if present is None else present.last_id
        ids = sorted(set(chain.from_iterable(pending.values())))
        missing = pages(self._source, self._key, after, facts.last_id)
        if self._target.abilities.bounds_entries:
            missing = within_limits(missing, self._key, leaves_out=self._leaves_out)
        placeholders: list[StreamId] = []
        with closing(read_ahead(with_placeholders(missing, ids, after, facts.last_id))) as ahead:
            for page, absent in ahead:
                placeholders += absent
                for batch in batches(page):
                    self._target.append(self._key, batch)
                    copied = [entry for entry in batch if entry.fields is not PLACEHOLDER]
                    self._appended(len(copied), sum(map(size_of, copied)))
        return placeholders

    def _create(self) -> None:
        """Create the stream, empty. No command does only that, so it takes a group, which is deleted at
        once."""
        commands: list[Words] = [
            (b"XGROUP", b"CREATE", self._key, _TEMPORARY_GROUP, b"0", b"MKSTREAM"),
            (b"XGROUP", b"DESTROY", self._key, _TEMPORARY_GROUP),
        ]
        run_all(self._target, commands, self._key)

    def _copy_groups(
        self, facts: StreamFacts, present: StreamFacts | None, pending: dict[bytes, Pending]
    ) -> None:
        known = {} if present is None else present.groups
        for name, group in facts.groups.items():
            placed = known.get(name)
            before = placed and (placed, pending_of(self._target, self._key, name, placed))
            for some in requests(changes(self._key, name, (group, pending[name]), before)):
                run_all(self._target, some, self._key)
        gone: list[Words] = [(b"XGROUP", b"DESTROY", self._key, name) for name in known.keys() - facts.groups]
        run_all(self._target, gone, self._key)

    def _last_steps(self, facts: StreamFacts) -> Iterator[Words]:
        """Yield the commands for counters, positions and settings. The counters come first: they bound the
        positions."""
        yield (
            *(b"XSETID", self._key, format_id(facts.last_id).encode()),
            *(b"ENTRIESADDED", b"%d" % facts.entries_added),
            *(b"MAXDELETEDID", format_id(facts.max_deleted_id).encode()),
        )
        for name, group in facts.groups.items():
            yield position(self._key, name, group)
        if facts.settings and self._target.abilities.settings:
            yield (b"XCFGSET", self._key, *_settings(facts))
        if self._target.abilities.expiry:
            at = facts.expires_at_ms
            yield (b"PERSIST", self._key) if at == NO_EXPIRY else (b"PEXPIREAT", self._key, b"%d" % at)


def _settings(facts: StreamFacts) -> Iterator[bytes]:
    for name, value in facts.settings.items():
        yield name.upper()
        yield b"%d" % value
