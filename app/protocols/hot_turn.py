"""The reads with known appends of one turn of the event loop, on all connections of a server.

A turn of the loop reads from many connections. Their appends cost less together (`app.store.joined_appends`),
so the reads are kept until all connections were read, and are carried out then. Each read is carried out as
if it had arrived at that moment, in the order of arrival. A connection on which something else happens before
ends the turn early, so events of one connection stay in order. Most reads are one append with the head of the
append before it, so they need no run (`hot_run`). This module never looks into any other read.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Final, Protocol

from tailrace.app.protocols.hot_connection import HotConnection
from tailrace.app.protocols.hot_observer import HotObserver
from tailrace.app.protocols.hot_request import HotRequest, request_of
from tailrace.app.protocols.joined_requests import JoinedRequests
from tailrace.app.protocols.plain_heads import PlainHead
from tailrace.core.limits import MIB

SINGLE_TURNS_MAX: Final = 4
READS_AT_ONCE: Final = 256
"""After `SINGLE_TURNS_MAX` turns with one read, `READS_AT_ONCE` reads are carried out at once: keeping a read
costs a quarter of the request of a client alone, and gains nothing."""

KEPT_BYTES_MAX: Final = MIB
"""When the kept reads take more bytes together, the turn ends early, so that they need little memory."""


class TurnRun(HotConnection[HotRequest], Protocol):
    """A connection with a kept read."""

    def carry_out_known(self, data: bytes, now_ns: int) -> None:
        """Submit the requests of the read, which is complete at `now_ns`. Their answers may follow by the end
        of the turn."""
        ...

    def turn_ended(self) -> Sequence[HotRequest]:
        """Write the answers, and continue after the read. Return the requests that were answered."""
        ...


class HotTurn:
    """The kept reads of one server."""

    def __init__(self, joined: JoinedRequests, observer: HotObserver) -> None:
        self._joined = joined
        self._observer = observer
        self._reads: list[tuple[TurnRun, bytes, PlainHead | None]] = []
        self._kept_bytes = 0
        self._single_turns = 0
        """How many of the last turns had one read only."""
        self._reads_at_once = 0
        """How many reads were not kept since then."""

    def read(self, run: TurnRun, data: bytes, single: PlainHead | None) -> None:
        """Keep a read with appends until the end of the turn; the connection has no other. Carry it out at
        once if other connections probably send nothing in this turn. `single`: the head of its only request;
        None if it has several."""
        reads = self._reads
        if reads or self._keeps():
            if not reads:
                asyncio.get_running_loop().call_soon(self.end)
            reads.append((run, data, single))
            self._kept_bytes += len(data)
            if self._kept_bytes > KEPT_BYTES_MAX:
                self.end()
        elif single is not None:
            self.carry_out_alone(run, data)
        else:
            self._carry_out(((run, data, None),))

    def _keeps(self) -> bool:
        if self._single_turns < SINGLE_TURNS_MAX:
            return True
        self._reads_at_once += 1
        if self._reads_at_once <= READS_AT_ONCE:
            return False
        self._reads_at_once = self._single_turns = 0
        return True

    def end(self) -> None:
        """Carry the kept reads out. Does nothing if there are none."""
        if not self._reads:
            return
        reads, self._reads = self._reads, []
        self._kept_bytes = 0
        self._single_turns = self._single_turns + 1 if len(reads) == 1 else 0
        self._carry_out(reads)

    def carry_out_alone(self, run: TurnRun, data: bytes) -> None:
        """Carry out a read whose requests do not wait for others."""
        run.carry_out_known(data, time.perf_counter_ns())
        self._observer.answered(run.turn_ended())

    def _carry_out(self, reads: Sequence[tuple[TurnRun, bytes, PlainHead | None]]) -> None:
        now_ns = time.perf_counter_ns()
        joined = self._joined
        singles: list[HotRequest] = []
        runs: list[TurnRun] = []
        joined.begin()
        takes_singles = joined.takes_unchecked
        for run, data, head in reads:
            try:
                if takes_singles and head is not None:
                    request = request_of(run, head, data[head.head_size :], now_ns)
                    if joined.take(request):
                        singles.append(request)
                        continue
                runs.append(run)
                run.carry_out_known(data, now_ns)
            except Exception as error:  # noqa: BLE001 - a defect ends its own connection only
                _cut(run, error)
        joined.end()
        if singles:
            self._end_singles(singles)
        if runs:
            self._end_runs(runs)

    def _end_singles(self, singles: Sequence[HotRequest]) -> None:
        answered = []
        for request in singles:
            try:
                if request.connection.single_ended(request):
                    answered.append(request)
            except Exception as error:  # noqa: BLE001 - as above
                _cut(request.connection, error)
        if answered:
            singles[0].connection.server_state.total_requests += len(answered)
            self._observer.answered_alike(answered)

    def _end_runs(self, runs: Sequence[TurnRun]) -> None:
        answered: list[HotRequest] = []
        for run in runs:
            try:
                answered += run.turn_ended()
            except Exception as error:  # noqa: BLE001 - as above
                _cut(run, error)
        self._observer.answered(answered)


def _cut(run: HotConnection[HotRequest], error: Exception) -> None:
    """Report a defect, and end the connection, as the event loop does after one in a callback."""
    context = {"message": "a connection failed to carry out its requests", "exception": error}
    asyncio.get_running_loop().call_exception_handler(context)
    run.cut()
