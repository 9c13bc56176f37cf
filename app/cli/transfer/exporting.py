"""An export: a range of a stream into a file, part by part, continued where the last whole part ended.

It owns the plan, the state and the reading. What a part looks like in the file is `entry_writers`'.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec.structs import replace

from tailrace.app.cli.client.http_client import Server, Unreachable, stream_path
from tailrace.app.cli.transfer.entry_writers import EntryWriter
from tailrace.app.cli.transfer.files import BadFile, Target
from tailrace.app.cli.transfer.importing import PAUSES_S
from tailrace.app.cli.transfer.progress import Meter
from tailrace.app.cli.transfer.state import StateFile
from tailrace.app.reasons import reason

PART_BYTES: Final = 4 << 20
"""A part is closed, compressed and put on disk once it has so many bytes of entries."""


class ExportPlan(msgspec.Struct, frozen=True):
    """What an export is of; a continued one must be of the same."""

    url: str
    stream: str
    format: str
    shape: str
    columns: list[str]
    id_column: str
    start: str
    end: str


class ExportState(msgspec.Struct, frozen=True):
    """How far it came: `length` bytes of the file and `rows` entries are whole, the last one `last_id`."""

    plan: ExportPlan
    columns: list[str]
    length: int = 0
    rows: int = 0
    last_id: str | None = None

    @property
    def next_start(self) -> str:
        """The start of what is missing."""
        return self.plan.start if self.last_id is None else f"({self.last_id}"


class _OnlyId(msgspec.Struct):
    id: str


_decode_id: Final = msgspec.json.Decoder(_OnlyId).decode


def id_of_line(line: bytes) -> str:
    """The id of an exported entry."""
    return _decode_id(line).id


def last_line(lines: bytes) -> bytes:
    """The last of whole lines."""
    return lines[lines.rfind(b"\n", 0, -1) + 1 :]


def exported_parts(server: Server, stream: str, start: str, end: str) -> Iterator[bytes]:
    """Whole lines of the entries from `start` to `end`, some at a time.

    A connection that breaks is made anew and goes on behind the last whole line; raises `Unreachable` where
    that is in vain several times in a row.
    """
    failures = 0
    while True:
        try:
            for block in _blocks(server, stream, start, end):
                failures = 0
                start = f"({id_of_line(last_line(block))}"
                yield block
        except Unreachable:
            if failures == len(PAUSES_S):
                raise
            time.sleep(PAUSES_S[failures])
            failures += 1
        else:
            return


def _blocks(server: Server, stream: str, start: str, end: str) -> Iterator[bytes]:
    """What comes over one connection, cut behind the last line end of each piece."""
    path = stream_path(os.fsencode(stream), "/entries:export")
    begun = b""
    with server.stream(path, [("start", start), ("end", end)]) as response:
        for piece in response.iter_bytes():
            whole, line_end, rest = piece.rpartition(b"\n")
            if line_end:
                yield begun + whole + line_end
                begun = rest
            else:
                begun += rest


class Export:
    """An export from `state` on into `target`. `state_file` None: a cut cannot be continued."""

    def __init__(
        self, server: Server, target: Target, state: ExportState, state_file: StateFile[ExportState] | None
    ) -> None:
        self._server = server
        self._target = target
        self.state = state
        self._state_file = state_file

    def run(self, writer: EntryWriter, end: str, meter: Meter) -> None:
        """Write all entries up to `end`. Raises `BadFile` or `ServerProblem`."""
        self._save()
        plan, part = self.state.plan, b""
        try:
            if not self.state.rows:
                self._target.write(writer.heading())
            for block in exported_parts(self._server, plan.stream, self.state.next_start, end):
                part += block
                if len(part) >= PART_BYTES:
                    self._write(part, writer, meter)
                    part = b""
            self._write(part, writer, meter)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise BadFile(f"cannot write: {reason(error)}") from None

    def _write(self, part: bytes, writer: EntryWriter, meter: Meter) -> None:
        """One part: first on disk, then in the state."""
        if part:
            self._target.write(writer.written(part))
        length, rows = self._target.settle(), part.count(b"\n")
        last_id = id_of_line(last_line(part)) if part else self.state.last_id
        self.state = replace(self.state, length=length, rows=self.state.rows + rows, last_id=last_id)
        self._save()
        meter.add(rows, len(part), meter.bytes + len(part))

    def _save(self) -> None:
        if self._state_file is not None:
            self._state_file.save(self.state)
