"""Exports a range of a stream to a file in parts; a continued export starts after the last complete part.

It owns the plan, the state and reading from the server. `entry_writers` formats the parts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from tailrace.app.cli.server import Server, request_of, stream_path
from tailrace.app.cli.transfer.entry_writers import EntryWriter
from tailrace.app.cli.transfer.files import BadFile, Target
from tailrace.app.cli.transfer.progress import Meter
from tailrace.app.cli.transfer.state import StateFile
from tailrace.app.reasons import reason
from tailrace_client.blocking.following import exported
from tailrace_client.lines import Export as ExportedLines

PART_BYTES: Final = 4 << 20
"""A part is compressed, written and synced when it has at least this many bytes of entries."""


class ExportPlan(msgspec.Struct, frozen=True):
    """The settings of an export. A continued export must have equal settings."""

    url: str
    stream: str
    format: str
    shape: str
    columns: list[str]
    id_column: str
    start: str
    end: str
    filter: str | None = None


class ExportState(msgspec.Struct, frozen=True):
    """The progress of an export, stored after each part.

    `length`: the size of the file in bytes. `rows`: the number of entries in it. `last_id`: the last of them.
    """

    plan: ExportPlan
    columns: list[str]
    length: int = 0
    rows: int = 0
    last_id: str | None = None

    @property
    def next_start(self) -> str:
        """Return the start of the remaining range."""
        return self.plan.start if self.last_id is None else f"({self.last_id}"


class _OnlyId(msgspec.Struct):
    id: str


_decode_id: Final = msgspec.json.Decoder(_OnlyId).decode


def id_of_line(line: bytes) -> str:
    """Return the id of an exported entry."""
    return _decode_id(line).id


def last_line(lines: bytes) -> bytes:
    """Return the last of complete lines."""
    return lines[lines.rfind(b"\n", 0, -1) + 1 :]


class _Lines(ExportedLines):
    """The lines of an export, for a key of any bytes."""

    def _request(self, start: str) -> Mapping[str, Any]:
        chosen = [] if self._condition is None else [("filter", self._condition)]
        bounds = [("start", start), ("end", self._end), *chosen]
        return request_of("GET", stream_path(os.fsencode(self._key), "/entries:export"), bounds)


def exported_parts(
    server: Server, stream: str, start: str, end: str, condition: str | None = None
) -> Iterator[bytes]:
    """Yield the entries from `start` to `end`, those that match `condition`, in blocks of complete lines.

    After a lost connection it reconnects and continues after the last complete line. Raises `Unreachable` if
    all retries in a row fail.
    """
    with server.problems():
        yield from exported(server.session, _Lines(stream, start, end, "entry", None, condition))


class Export:
    """One export to `target` that starts at `state`. Without `state_file` it cannot be continued."""

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
            for block in exported_parts(self._server, plan.stream, self.state.next_start, end, plan.filter):
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
        """Write one part: first sync the file, then store the state."""
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
