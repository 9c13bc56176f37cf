"""Imports chunks one after another; each chunk is appended once, even if it is sent several times.

It owns the plan, the state and sending. The docstring of the package explains how an interrupted import
continues.
"""

from __future__ import annotations

import os
import re
import time
from concurrent.futures import Future, ThreadPoolExecutor
from secrets import token_hex
from typing import Final

import msgspec
from msgspec.structs import replace

from tailrace.app.cli.server import RETRY, RefusedByServer, Server, request_of, stream_path
from tailrace.app.cli.transfer.files import Position
from tailrace.app.cli.transfer.progress import Meter
from tailrace.app.cli.transfer.rows import BadRow, Chunk, RowReader
from tailrace.app.cli.transfer.state import StateFile, uninterrupted
from tailrace_client.call import Call, nothing
from tailrace_client.errors import TailraceError

_NDJSON: Final = "application/x-ndjson"
_NOT_ABOUT_ROWS: Final = frozenset({401, 403, 500, 503, 507})
_NUMBERED: Final = re.compile(r"line (\d+): ")
_OF_ONE_LINE: Final = re.compile(r" at line 1 column ")
_BEGINNING: Final = Position(0, 0, "")
_ID_NOT_GREATER: Final = "ID_NOT_GREATER"


class ImportPlan(msgspec.Struct, frozen=True):
    """The settings of an import. A continued import must have equal settings."""

    url: str
    stream: str
    format: str
    shape: str
    columns: list[str]
    id_column: str | None
    chunk: int


class ImportState(msgspec.Struct, frozen=True):
    """The progress of an import, stored after each chunk.

    `run` is part of the producer id. `chunks` and `rows`: how many were appended; `chunks` is also the number
    of the next chunk. `position`: the end of the last appended chunk in the file.
    """

    plan: ImportPlan
    run: str
    chunks: int = 0
    rows: int = 0
    position: Position = _BEGINNING
    is_finished: bool = False


def begun(plan: ImportPlan) -> ImportState:
    """Return the state of a new import."""
    return ImportState(plan, token_hex(16))


class Import:
    """One import that starts at `state`. Without `state_file` it cannot be continued.

    `name`: the name of the file in messages. `is_continued`: the next chunk may already be in the stream.
    """

    def __init__(
        self,
        server: Server,
        name: str,
        state: ImportState,
        state_file: StateFile[ImportState] | None,
        *,
        is_continued: bool,
    ) -> None:
        self._server = server
        self._name = name
        self._key = os.fsencode(state.plan.stream)
        self.state = state
        self._state_file = state_file
        self._may_be_appended = is_continued
        self._in_flight: tuple[Chunk, Future[None]] | None = None

    def run(self, reader: RowReader, meter: Meter) -> None:
        """Append all chunks of `reader`. Raises `BadRow`, `BadFile` or `ServerProblem`."""
        self._save()
        try:
            self._append_all(reader, meter)
        finally:
            self._forget_unused_state()
        self.state = replace(self.state, is_finished=True)
        self._save()

    def _append_all(self, reader: RowReader, meter: Meter) -> None:
        if self.state.chunks:
            reader.skip_to(self.state.position)
        chunks = (chunk for chunk in reader.chunks(self.state.plan.chunk) if chunk.rows)
        with ThreadPoolExecutor(1) as sender:
            try:
                for chunk in chunks:
                    # This chunk was read while the previous one was being sent.
                    self._settle(meter)
                    self._in_flight = chunk, sender.submit(self._append, chunk, self.state.chunks)
            finally:
                self._settle(meter)

    def _settle(self, meter: Meter) -> None:
        """Wait for the chunk that is being sent, then store the progress."""
        if self._in_flight is None:
            return
        chunk, appended = self._in_flight
        try:
            appended.result()
        except KeyboardInterrupt:
            # The chunk is still being sent: it is settled when the import ends.
            raise
        except BaseException:
            self._in_flight = None
            raise
        with uninterrupted():
            self.state = replace(
                self.state,
                chunks=self.state.chunks + 1,
                rows=self.state.rows + chunk.rows,
                position=chunk.end,
                is_finished=False,
            )
            self._in_flight = None
            self._save()
            meter.add(chunk.rows, len(chunk.body), chunk.bytes_read)

    def _save(self) -> None:
        if self._state_file is not None:
            self._state_file.save(self.state)

    def _forget_unused_state(self) -> None:
        """Delete the state if no chunk can have been appended: there is no progress to continue."""
        if self._state_file is not None and not self.has_progress:
            self._state_file.forget()

    @property
    def has_progress(self) -> bool:
        """Return whether a chunk was appended, or may have been."""
        return bool(self.state.chunks) or self._may_be_appended or self._in_flight is not None

    # --- sending -----------------------------------------------------------------------------------

    def _append(self, chunk: Chunk, number: int) -> None:
        """Send a chunk, with retries for temporary failures."""
        path, shape = stream_path(self._key, "/entries:import"), [("shape", self.state.plan.shape)]
        request = request_of("POST", path, shape, self._headers(chunk, number))
        call = Call({**request, "content": chunk.body}, nothing)
        # A chunk can be sent again: see the package's table.
        attempts = RETRY.attempts(is_idempotent=True)
        with self._server.problems():
            while True:
                try:
                    self._server.session.attempt(call)
                    break
                except TailraceError as error:
                    if error.code == _ID_NOT_GREATER and self._may_be_appended and self._is_appended(chunk):
                        break
                    if not error.retryable and error.status and error.status not in _NOT_ABOUT_ROWS:
                        raise BadRow(f"{self._name}, {_place(chunk, error)}") from None
                    self._may_be_appended |= error.retryable
                    pause_s = attempts.delay_after(error)
                time.sleep(pause_s)
        self._may_be_appended = False

    def _headers(self, chunk: Chunk, number: int) -> dict[str, str]:
        if chunk.last_id is not None:
            return {"Content-Type": _NDJSON}
        return {
            "Content-Type": _NDJSON,
            "Producer-Id": f"tailrace-import-{self.state.run}",
            "Producer-Epoch": str(number),
            "Idempotency-Key": str(number),
        }

    def _is_appended(self, chunk: Chunk) -> bool:
        """Return whether the last row of the chunk is in the stream: then all its rows were appended."""
        row = msgspec.json.decode(chunk.body.strip().rpartition(b"\n")[2])
        parameters = [("shape", "pairs"), *([("encoding", "base64")] if row.get("encoding") else [])]
        path = stream_path(self._key, f"/entries/{chunk.last_id}")
        try:
            found = self._server.request("GET", path, parameters=parameters).json()
        except RefusedByServer:
            return False
        pairs = row.get("pairs") or [list(pair) for pair in row["fields"].items()]
        return bool(found["pairs"] == pairs)


def _place(chunk: Chunk, refusal: TailraceError) -> str:
    """Return the place in the file of the row that the server rejected, and the reason."""
    error = (refusal.problem.get("errors") or [{}])[0]
    numbered = _NUMBERED.match(refusal.detail)
    number = error.get("line") or (numbered and int(numbered[1]))
    if not number:
        return f"lines {chunk.lines[0]} to {chunk.lines[-1]}: {refusal.detail}"
    name = str(error.get("pointer", "")).removeprefix("/fields").removeprefix("/")
    column = f", column {name}" if name else ""
    detail = error.get("detail") or _NUMBERED.sub("", refusal.detail)
    return f"line {chunk.lines[number - 1]}{column}: {_OF_ONE_LINE.sub(' at column ', detail)}"
