"""A data directory as a place of a migration: as the source, an engine on its data, opened for reading; as
the target, a private server that runs on it until the migration ends.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict

from tailrace.app import __version__
from tailrace.app.cli.child_process import STOP_WITHIN_S, running
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
from tailrace.app.cli.server import Server
from tailrace.app.clock import system_clock_ms
from tailrace.app.store.data_refusals import STORAGE_ERRORS, refusal
from tailrace.app.tokens.file import changing_tokens
from tailrace.app.tokens.tokens import new_token
from tailrace.core.engine import Engine
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.limits import NAME_BYTES_MAX
from tailrace.core.parser import parse_request
from tailrace.core.storage.inspection import inspected
from tailrace.core.storage.recovery import recover
from tailrace.core.storage.schema import DirectoryLock, InUse


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


FREE_WITHIN_S: Final = 10.0
"""How long the directory may be in use. The server of a migration that was killed needs a moment to stop."""

_LOOK_S: Final = 0.05
_READY: Final = re.compile(r"is ready on (\S+)\n")


@contextmanager
def served(directory: Path) -> Iterator[Server]:
    """Run a server on `directory`, which is created if it does not exist; yield a client of it."""
    _until_free(directory)
    with TemporaryDirectory(prefix="tailrace-migrate-") as scratch:
        token = new_token("migrate", ("read", "append", "consume", "admin"), ["*"], system_clock_ms(), None)
        tokens_file, log = Path(scratch) / "tokens.json", Path(scratch) / "log"
        with changing_tokens(tokens_file) as tokens:
            tokens.append(token.record)
        arguments = ("serve", "--host", "127.0.0.1", "--port", "0", "--data-dir", str(directory))
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TAILRACE_")}
        environment["TAILRACE_TOKENS_FILE"] = str(tokens_file)
        with (
            running(arguments, environment, log) as process,
            Server(_address(process, log), token.text) as server,
        ):
            yield server


def _until_free(directory: Path) -> None:
    """Return when no server uses the directory, after `FREE_WITHIN_S` at the latest."""
    deadline_s = time.monotonic() + FREE_WITHIN_S
    while directory.is_dir() and time.monotonic() < deadline_s:
        try:
            DirectoryLock(directory).release()
        except InUse:
            time.sleep(_LOOK_S)
        except OSError:
            # The server reports why the directory cannot be used.
            return
        else:
            return


def _address(process: subprocess.Popen[str], log: Path) -> str:
    assert process.stdout is not None
    found = _READY.search(process.stdout.readline())
    if found is None:
        process.wait(STOP_WITHIN_S)
        said = log.read_text(errors="replace").strip().splitlines()
        raise CannotMigrate(f"no server can run on the directory: {said[-1] if said else 'it ended'}")
    return found[1]
