"""The progress of a migration: what it shows, how long it waits for a place that is away, and its state file.

The state file says which streams of the target belong to this migration; each is recorded before its first
write. The file has one JSON value a line: first the ends of the migration, then the key of each begun stream.
A line that a crash cut off is ignored: nothing was written to its stream yet."""

from __future__ import annotations

import os
import sys
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Final, TypeVar

import msgspec
from rich.console import Console
from rich.filesize import decimal
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tailrace.app.cli.migrate.port import CannotMigrate, PlaceDown
from tailrace.app.reasons import reason

_PHASE: Final = TextColumn("{task.description}")
_RATE: Final = TextColumn("{task.fields[rate]:,.0f} entries/s")
_COUNT: Final = TextColumn("{task.completed:,} entries")
_WITH_TOTAL: Final = (
    _PHASE,
    BarColumn(),
    MofNCompleteColumn(),
    TextColumn("entries"),
    _RATE,
    TimeRemainingColumn(),
)


class Meter:
    """Counts the entries and bytes of a phase. A comparison also counts streams, groups and pending
    entries."""

    def __init__(self, progress: Progress, phase: str, total: int) -> None:
        self._progress = progress
        self._task = progress.add_task(phase, total=total, rate=0)
        self._began_s = time.monotonic()
        self.entries = 0
        self.bytes = 0
        self.streams = 0
        self.groups = 0
        self.pending = 0

    def add(self, entries: int, size: int) -> None:
        """Add `entries` entries of `size` bytes."""
        self.entries += entries
        self.bytes += size
        self._progress.update(self._task, completed=self.entries, rate=self._per_s)

    @property
    def _per_s(self) -> float:
        return self.entries / max(time.monotonic() - self._began_s, 1e-9)

    @property
    def summary(self) -> str:
        """Return entries, bytes, time and rate as text."""
        took_s = time.monotonic() - self._began_s
        rate = f"{self._per_s:,.0f} entries/s"
        return f"{self.entries:,} entries, {decimal(self.bytes)} in {took_s:.1f} s ({rate})"


@contextmanager
def metered(phase: str, total: int) -> Iterator[Meter]:
    """Show a meter for the duration of the context. Without a total (0) it has no bar."""
    columns = _WITH_TOTAL if total else (_PHASE, _COUNT, _RATE)
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as progress:
        yield Meter(progress, phase, max(total, 1))


# --- patience -----------------------------------------------------------------------------------


PAUSE_MIN_S: Final = 0.1
PAUSE_MAX_S: Final = 5.0

ResultT = TypeVar("ResultT")


class Patience:
    """`retry_s`: how long a place may be away. `say` prints a line for the user."""

    def __init__(self, retry_s: float, say: Callable[[str], None]) -> None:
        self._retry_s = retry_s
        self._say = say

    def __call__(self, step: Callable[[], ResultT], meter: Meter | None = None) -> ResultT:
        """Repeat `step` while a place is away, for at most `retry_s` since the last progress of `meter`."""
        pause_s = PAUSE_MIN_S
        entries = 0 if meter is None else meter.entries
        deadline_s = time.monotonic() + self._retry_s
        is_first = True
        while True:
            try:
                return step()
            except PlaceDown as down:
                if meter is not None and meter.entries > entries:
                    entries, pause_s = meter.entries, PAUSE_MIN_S
                    deadline_s = time.monotonic() + self._retry_s
                if time.monotonic() + pause_s > deadline_s:
                    raise
                if is_first:
                    self._say(f"{down}; trying again for {self._retry_s:g} s")
                    is_first = False
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, PAUSE_MAX_S)


# --- the state file -----------------------------------------------------------------------------


_DIGEST_BYTES: Final = 6


class _Ends(msgspec.Struct, frozen=True):
    """The first line."""

    source: str
    target: str


class Begun:
    """The begun streams of the migration from `source` to `target`, stored in `path`."""

    def __init__(self, path: Path, source: str, target: str) -> None:
        self.path = path
        self._ends = _Ends(source, target)
        self._intact_bytes = 0
        self._keys = self._load()

    def __contains__(self, key: bytes) -> bool:
        return key in self._keys

    @property
    def keys(self) -> frozenset[bytes]:
        """The keys of all begun streams."""
        return frozenset(self._keys)

    def add(self, key: bytes) -> None:
        """Record a stream, and sync the file. Raises `CannotMigrate`."""
        if key not in self._keys:
            self._write(b64encode(key).decode())
            self._keys.add(key)

    def forget(self) -> None:
        """Delete the file: the migration is complete."""
        self.path.unlink(missing_ok=True)

    def _load(self) -> set[bytes]:
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return set()
        except OSError as error:
            raise CannotMigrate(f"cannot read the state file {self.path}: {reason(error)}") from None
        self._intact_bytes = content.rfind(b"\n") + 1
        lines = content[: self._intact_bytes].splitlines()
        if not lines:
            return set()
        try:
            ends = msgspec.json.decode(lines[0], type=_Ends)
            keys = {b64decode(msgspec.json.decode(line, type=str), validate=True) for line in lines[1:]}
        except (msgspec.DecodeError, ValueError) as error:
            raise CannotMigrate(f"{self.path} is not a state file of this command: {error}") from None
        if ends != self._ends:
            raise CannotMigrate(
                f"{self.path} belongs to a migration from {ends.source} to {ends.target}: choose "
                "another file with --state"
            )
        return keys

    def _write(self, value: str) -> None:
        try:
            with self.path.open("ab") as file:
                # A crash may have left an incomplete line.
                file.truncate(self._intact_bytes)
                if not self._intact_bytes:
                    file.write(msgspec.json.encode(self._ends) + b"\n")
                file.write(msgspec.json.encode(value) + b"\n")
                file.flush()
                os.fsync(file.fileno())
                self._intact_bytes = file.tell()
        except OSError as error:
            raise CannotMigrate(
                f"cannot write the state file {self.path}: {reason(error)}; choose another file with --state"
            ) from None


def default_path(source: str, target: str) -> Path:
    """Return the path of the state file in the current directory, one for each pair of ends."""
    ends = f"{source}\0{target}".encode("utf-8", "surrogateescape")
    return Path(f".tailrace-migrate-{blake2b(ends, digest_size=_DIGEST_BYTES).hexdigest()}")
