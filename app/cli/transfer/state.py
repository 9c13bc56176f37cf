"""What transfers keep on disk: the settings and the progress of an import or export, and finished imports.

Each save of a state file replaces the whole file atomically and syncs it before the transfer continues; an
interruption (Ctrl-C, SIGTERM or SIGHUP) can wait for it. Finished imports are remembered, so that a second
import of the same content can be noticed before it appends: one file for each stream's name in
`$XDG_STATE_HOME/tailrace/imports`. A record has the digest of the imported content, after decompression; the
name of the file does not matter. It also has the incarnation of the stream: a stream that was deleted and
created again has no imports."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Final, Generic, TypeVar

import msgspec

from tailrace.app.cli.server import RefusedByServer, Server, stream_path
from tailrace.app.cli.transfer.files import DIGEST_BYTES, READ_BYTES, UNREADABLE, BadFile, Position, Source
from tailrace.app.reasons import reason

# --- state files --------------------------------------------------------------------------------


PLAN_DIGEST_BYTES: Final = 6

StateT = TypeVar("StateT", bound=msgspec.Struct)


class StateFile(Generic[StateT]):
    """The file at `path` with a state of the type `kind`."""

    def __init__(self, path: Path, kind: type[StateT]) -> None:
        self.path = path
        self._decoder = msgspec.json.Decoder(kind)

    def load(self) -> StateT | None:
        """Return the state; None if the file does not exist. Raises `BadFile`."""
        try:
            return self._decoder.decode(self.path.read_bytes())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise BadFile(f"cannot read the state file {self.path}: {reason(error)}") from None
        except msgspec.DecodeError as error:
            raise BadFile(f"{self.path} is not a state file of this command: {error}") from None

    def save(self, state: StateT) -> None:
        """Replace the state and sync the file. Raises `BadFile`."""
        unfinished = self.path.with_name(f"{self.path.name}.new")
        try:
            with unfinished.open("wb") as file:
                file.write(msgspec.json.encode(state))
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(self.path)
        except OSError as error:
            raise BadFile(
                f"cannot write the state file {self.path}: {reason(error)}; choose another file with --state"
            ) from None

    def forget(self) -> None:
        """Delete the file if it exists."""
        self.path.unlink(missing_ok=True)


def state_path(file: Path, doing: str, *target: str) -> Path:
    """Return the default path: a hidden file next to `file`, one for each `target` (server and stream)."""
    digest = blake2b("\0".join(target).encode("utf-8", "surrogateescape"), digest_size=PLAN_DIGEST_BYTES)
    return file.with_name(f".{file.name}.{doing}-{digest.hexdigest()}")


def differences(begun: msgspec.Struct, wanted: msgspec.Struct) -> str:
    """Return the settings in which two plans differ, in words; empty if they are equal."""
    one, other = msgspec.structs.asdict(begun), msgspec.structs.asdict(wanted)
    return ", ".join(
        f"{name} was {one[name]!r}, now it is {other[name]!r}" for name in one if one[name] != other[name]
    )


# --- interruptions ------------------------------------------------------------------------------


_INTERRUPTIONS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Handle these signals only at the end of the context, so that what it stores and what it counts belong
    together. Other threads than the main one get no signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _frame: came.append(number))
        for number in _INTERRUPTIONS
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if came:
        signal.raise_signal(came[0])


# --- finished imports ---------------------------------------------------------------------------


RECORDS_MAX: Final = 500
"""How many imports into one target are remembered."""

_NAME_BYTES: Final = 16
_MISSING: Final = "NO_SUCH_STREAM"


class Imported(msgspec.Struct, frozen=True):
    """One finished import. `position`: the end of the content that was appended.

    `incarnation`: that of the stream. None if the token may not read it; then `url` identifies the server.
    """

    file: str
    rows: int
    position: Position
    at_ms: int
    url: str
    incarnation: str | None


class Imports:
    """The finished imports into the stream `stream` of a server."""

    def __init__(self, server: Server, stream: str) -> None:
        self._server = server
        self._stream = stream
        name = blake2b(os.fsencode(stream), digest_size=_NAME_BYTES).hexdigest()
        state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
        self._path = Path(state) / "tailrace" / "imports" / f"{name}.json"

    def found_in(self, path: Path) -> Imported | None:
        """Return the longest import whose content the file begins with. Raises `ServerProblem` or `BadFile`.

        Without records of the stream, nothing is requested and the file is not read. O(bytes of the longest
        import).
        """
        records = self._load()
        if not records:
            return None
        incarnation, url = self._incarnation(), self._server.url
        same = [each for each in records if _is_same(each, incarnation, url)]
        source = Source(path)
        try:
            return _longest(source, same)
        except UNREADABLE:
            # The import itself reports a file that cannot be read.
            return None
        finally:
            source.close()

    def remember(self, file: str, rows: int, position: Position) -> None:
        """Add a finished import. Raises `BadFile` or `ServerProblem`."""
        at_ms = time.time_ns() // 1_000_000
        record = Imported(file, rows, position, at_ms, self._server.url, self._incarnation())
        kept = self._load()[-RECORDS_MAX + 1 :]
        unfinished = self._path.with_name(f"{self._path.name}.{os.getpid()}.new")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            unfinished.write_bytes(msgspec.json.encode([*kept, record]))
            unfinished.replace(self._path)
        except OSError as error:
            raise BadFile(f"cannot write {self._path}: {reason(error)}") from None

    def _incarnation(self) -> str | None:
        """Return the incarnation of the stream: empty if it does not exist, None if it may not be read."""
        try:
            return str(
                self._server.request("GET", stream_path(os.fsencode(self._stream))).json()["incarnation"]
            )
        except RefusedByServer as refusal:
            return "" if refusal.code == _MISSING else None

    def _load(self) -> list[Imported]:
        """Return the records. A file that cannot be read has none: it only helps to notice mistakes."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=list[Imported])
        except (OSError, msgspec.DecodeError):
            return []


def _is_same(record: Imported, incarnation: str | None, url: str) -> bool:
    """Return whether a record is of the stream with this incarnation."""
    if record.incarnation is None or incarnation is None:
        return record.url == url
    return record.incarnation == incarnation


def _longest(source: Source, records: Sequence[Imported]) -> Imported | None:
    """Return the longest record whose bytes are the first of `source`."""
    digest, offset, found = blake2b(digest_size=DIGEST_BYTES), 0, None
    for record in sorted(records, key=lambda each: each.position.offset):
        while offset < record.position.offset:
            content = source.content.read(min(READ_BYTES, record.position.offset - offset))
            if not content:
                return found
            digest.update(content)
            offset += len(content)
        if digest.hexdigest() == record.position.digest:
            found = record
    return found
