"""Follows streams over `GET /v1/tail` and reconnects after a lost connection.

It owns the position from which it resumes. The caller processes the entries.
"""

from __future__ import annotations

import os
import time
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from tailrace.app.cli.client.http_client import (
    RefusedByServer,
    Server,
    ServerProblem,
    Unreachable,
    escaped,
    stream_path,
)
from tailrace.app.cli.following.entries import Line
from tailrace.app.cli.following.sse import ServerSentEvent, events

PREFETCH: Final = 1_000
"""How many unacknowledged entries the server sends ahead to a consumer."""
PAUSE_MS_DEFAULT: Final = 2_000
PAUSE_MS_MAX: Final = 30_000

_BEGINNING: Final = "0-0"


class GroupMember(NamedTuple):
    """The consumer that a tail reads as. `acknowledges`: it acknowledges entries after printing them."""

    group: bytes
    consumer: bytes
    acknowledges: bool


class Follower:
    """A tail of the streams in `positions`; each value is the id after which that stream is read.

    `find_more`, if given, returns the keys of all streams to follow. It is called at each heartbeat of the
    tail, and new streams are read from their beginning. `on_notice` gets sentences for the user.
    `parameters`: further parameters of the requests.
    """

    def __init__(
        self,
        server: Server,
        positions: Mapping[bytes, str],
        reader: GroupMember | None,
        find_more: Callable[[], Sequence[bytes]] | None,
        on_notice: Callable[[str], None],
        parameters: Sequence[tuple[str, str]] = (),
    ) -> None:
        self._server = server
        self._positions = dict(positions)
        self._reader = reader
        self._find_more = find_more
        self._on_notice = on_notice
        self._more_parameters = list(parameters)
        self._last_id = ""
        self._pause_ms = PAUSE_MS_DEFAULT
        self._failures = 0
        self._was_connected = False

    def entries(self) -> Iterator[list[Line]]:
        """Yield the entries of each event as it arrives, without end.

        A heartbeat yields an empty list. If the reader acknowledges, it acknowledges a list when the caller
        requests the next one. Raises `ServerProblem` if the first connection fails or if the server ends the
        tail with an error that a retry cannot solve.
        """
        while True:
            try:
                yield from self._connection()
            except ServerProblem as problem:
                self._wait_after(problem)

    def _wait_after(self, problem: ServerProblem) -> None:
        passes = isinstance(problem, Unreachable) or (
            isinstance(problem, RefusedByServer) and problem.is_worth_repeating
        )
        if not self._was_connected or not passes:
            raise problem
        if self._failures == 0:
            self._on_notice(f"{problem}; trying again")
        self._failures += 1
        time.sleep(min(self._pause_ms * self._failures, PAUSE_MS_MAX) / 1000)

    # --- one connection ----------------------------------------------------------------------------

    def _connection(self) -> Iterator[list[Line]]:
        while not self._positions:
            # No stream matches the pattern yet.
            self._was_connected = True
            time.sleep(PAUSE_MS_DEFAULT / 1000)
            self._take_new_streams()
        headers = {"Accept": "text/event-stream"}
        if self._last_id and self._reader is None:
            headers["Last-Event-ID"] = self._last_id
        with self._server.stream("/v1/tail", self._parameters(), headers) as response:
            self._back()
            for event in events(response.iter_lines()):
                self._pause_ms = event.retry_ms or self._pause_ms
                lines = self._lines(event)
                yield lines
                if lines:
                    acknowledge(self._server, self._reader, lines)
                self._last_id = event.last_id or self._last_id
                if not event.name and self._take_new_streams():
                    return
        raise Unreachable(f"{self._server.url} ended the tail")

    def _back(self) -> None:
        if self._failures:
            self._on_notice("connected again")
        self._was_connected, self._failures = True, 0

    def _parameters(self) -> list[tuple[str, str]]:
        parameters = [("stream", os.fsdecode(key)) for key in self._positions] + self._more_parameters
        if self._reader is None:
            return parameters + [("after", position) for position in self._positions.values()]
        # A reader that acknowledges first reads its pending entries: it may not have printed them yet.
        history = [("after", _BEGINNING)] if self._reader.acknowledges else []
        names = [("group", os.fsdecode(self._reader.group)), ("consumer", os.fsdecode(self._reader.consumer))]
        return [*parameters, *history, *names, ("prefetch", str(PREFETCH))]

    def _take_new_streams(self) -> bool:
        if self._find_more is None:
            return False
        new = [key for key in self._find_more() if key not in self._positions]
        self._positions |= dict.fromkeys(new, _BEGINNING)
        return bool(new)

    # --- events ------------------------------------------------------------------------------------

    def _lines(self, event: ServerSentEvent) -> list[Line]:
        if not event.name:
            return []
        content: dict[str, Any] = msgspec.json.decode(event.data)
        if event.name in {"end", "problem"}:
            raise RefusedByServer(int(content.get("status", 500)), content)
        key = _key_of(content)
        if event.name == "gap":
            self._on_notice(f"{key.decode('utf-8', 'backslashreplace')}: {_gap_text(content)}")
        return [Line(key, entry) for entry in content.get("entries", ())]


def _gap_text(gap: Mapping[str, Any]) -> str:
    if "incarnation" in gap:
        return f"the stream was deleted after {gap['from']}; following the next one from {gap['to']}"
    return f"entries after {gap['from']} and before {gap['to']} were trimmed before they could be read"


def acknowledge(server: Server, reader: GroupMember | None, lines: Sequence[Line]) -> None:
    """Acknowledge `lines`, all of one stream, if `reader` acknowledges. Raises `ServerProblem`."""
    if reader is not None and reader.acknowledges:
        path = stream_path(lines[0].key, f"/groups/{escaped(reader.group)}:ack")
        server.request("POST", path, body={"ids": [line.id for line in lines]})


def _key_of(content: Mapping[str, Any]) -> bytes:
    key = str(content["key"])
    return b64decode(key) if content.get("encoding") == "base64" else key.encode()
