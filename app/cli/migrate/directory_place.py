"""A data directory as the source of a migration: an engine on its data, opened for reading.

No byte of the directory changes. If a server uses the directory, the place shows its state at the instant of
opening.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from tailrace.app import __version__
from tailrace.app.cli.migrate.policies import (
    ALL_RULES,
    NO_POLICIES,
    NO_RULES,
    Rules,
    Settings,
    StreamPolicies,
    rules_of,
)
from tailrace.app.cli.migrate.port import (
    Abilities,
    CannotMigrate,
    Entry,
    Refusal,
    Reply,
    TooLarge,
    Words,
    accepted,
    scan,
)
from tailrace.app.clock import system_clock_ms
from tailrace.app.store.data_refusals import STORAGE_ERRORS, refusal
from tailrace.core.engine import Engine
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.limits import NAME_BYTES_MAX
from tailrace.core.parser import parse_request
from tailrace.core.storage.inspection import inspected
from tailrace.core.storage.recovery import recover


class DirectoryPlace:
    """The data directory at `directory`. `may_be_empty`: it need not exist or contain data."""

    abilities = Abilities(
        unowned=True,
        settings=True,
        expiry=False,
        name_bytes_max=NAME_BYTES_MAX,
        group_settings=True,
        retention=frozenset(ALL_RULES),
        bounds_entries=True,
    )

    def __init__(self, directory: Path, *, may_be_empty: bool = False) -> None:
        self.name = str(directory)
        self.engine = f"data directory of Tailrace, read by {__version__}"
        self._directory = directory
        self._open = ExitStack()
        self._engine = Engine()
        if may_be_empty and not (directory.exists() and any(directory.iterdir())):
            return
        try:
            connection = self._open.enter_context(inspected(directory)).connection
            self._engine = Engine(recover(connection, connection).keyspace)
        except STORAGE_ERRORS as error:
            self._open.close()
            raise CannotMigrate(refusal(directory, error)) from None

    def run(self, commands: Sequence[Words], key: bytes, *, atomic: bool = False) -> list[Reply]:
        """Run commands at one instant; see `Place`. Commands that write are never given to this place."""
        del key, atomic
        now_ms = system_clock_ms()
        try:
            return [self._run(words, now_ms) for words in commands]
        except STORAGE_ERRORS as error:
            raise CannotMigrate(refusal(self._directory, error)) from None

    def _run(self, words: Words, now_ms: int) -> Reply:
        try:
            request = parse_request(words)
            if request.command is None:
                return _plain(request.to_resp(None))
            outcome = self._engine.execute(request.command, now_ms)
            assert not outcome.effects, words
            return _plain(request.to_resp(outcome.reply))
        except StreamError as error:
            if error.code is ErrorCode.REPLY_TOO_LARGE:
                raise TooLarge(error.line) from None
            return Refusal(error.line)

    def append(self, key: bytes, entries: Sequence[Entry]) -> None:
        """Fail: the directory is open for reading."""
        raise NotImplementedError(key, entries)

    def group_settings(self, key: bytes) -> dict[bytes, Settings]:
        """Return the settings of the groups; see `Place`."""
        stream = self._engine.keyspace.streams.get(key)
        groups = () if stream is None else stream.groups.values()
        return {each.name: _set(each.settings) for each in groups if each.settings is not None}

    def configure(self, key: bytes, group: bytes, settings: Settings) -> None:
        """Fail: the directory is open for reading."""
        raise NotImplementedError(key, group, settings)

    def stream_policies(self, key: bytes) -> StreamPolicies:
        """Return the retention and the scheduled entries; see `Place`."""
        stream = self._engine.keyspace.streams.get(key)
        if stream is None:
            return NO_POLICIES
        rules = NO_RULES if stream.retention is None else rules_of(asdict(stream.retention.rules))
        return StreamPolicies(rules, 0 if stream.schedule is None else len(stream.schedule.entries))

    def retain(self, key: bytes, rules: Rules) -> None:
        """Fail: the directory is open for reading."""
        raise NotImplementedError(key, rules)

    def keys(self, patterns: Sequence[bytes]) -> Iterator[bytes]:
        """Return the keys of matching streams; see `Place`."""
        return scan(lambda words: accepted(self.run([words], b"")[0], words), patterns)

    def close(self) -> None:
        """Close the directory."""
        self._open.close()


def _set(settings: Struct) -> Settings:
    return {name: value for name, value in asdict(settings).items() if value is not None}


def _plain(reply: Any) -> Reply:
    """Return a reply of the grammar in the types of the port."""
    if reply is None or isinstance(reply, int | bytes):
        return reply
    if isinstance(reply, str):
        return reply.encode()
    return [_plain(item) for item in reply]
