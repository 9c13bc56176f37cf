"""The reads with known appends of one turn of the event loop, on all connections of a server.

A turn of the loop reads from many connections. Their appends cost less together (`app.store.joined_appends`),
so the reads are kept until all connections were read, and are carried out then. Each read is carried out as
if it had arrived at that moment, in the order of arrival. A connection on which something else happens before
ends the turn early, so events of one connection stay in order. This module never looks into a read.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from tailrace.app.protocols.hot_request import HotRequest
from tailrace.core.limits import MIB

SINGLE_TURNS_MAX: Final = 4
READS_AT_ONCE: Final = 256
"""After so many turns with one read, so many reads are carried out at once: to keep a read costs a client
alone a quarter of its request, and gains nothing."""

KEPT_BYTES_MAX: Final = MIB
"""When the kept reads take more bytes together, the turn ends early, so that they need little memory."""


class TurnRun(Protocol):
    """A connection with a kept read."""

    def carry_out_known(self, data: bytes, now_ns: int) -> None:
        """Submit the requests of the read, which is complete at `now_ns`. Their answers may follow by the end
        of the turn."""
        ...

    def turn_ended(self) -> Sequence[HotRequest]:
        """Write the answers, and continue after the read. Return the requests that were answered."""
        ...

    def cut(self) -> None:
        """End the connection now."""
        ...


class HotTurn:
    """The kept reads. `begin` and `end` are called before the first read is carried out, and after the last
    one; `answered` gets all requests whose answers were written."""

    def __init__(
        self,
        begin: Callable[[], None],
        end: Callable[[], None],
        answered: Callable[[Sequence[HotRequest]], None],
    ) -> None:
        self._begin = begin
        self._end = end
        self._answered = answered
        self._reads: list[tuple[TurnRun, bytes]] = []
        self._kept_bytes = 0
        self._single_turns = 0
        """How many of the last turns had one read only."""
        self._reads_at_once = 0
        """How many reads were not kept since then."""

    def read(self, run: TurnRun, data: bytes, *, is_single: bool) -> None:
        """Keep a read with appends until the end of the turn; the connection has no other. Carry it out at
        once if other connections probably send nothing in this turn. `is_single`: it has one request."""
        if self._keeps():
            if not self._reads:
                asyncio.get_running_loop().call_soon(self.end)
            self._reads.append((run, data))
            self._kept_bytes += len(data)
            if self._kept_bytes > KEPT_BYTES_MAX:
                self.end()
        elif is_single:
            self.carry_out_alone(run, data)
        else:
            self._carry_out(((run, data),))

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
        self._answered(run.turn_ended())

    def _carry_out(self, reads: Sequence[tuple[TurnRun, bytes]]) -> None:
        now_ns = time.perf_counter_ns()
        self._begin()
        for run, data in reads:
            try:
                run.carry_out_known(data, now_ns)
            except Exception as error:  # noqa: BLE001 - a defect ends its own connection only
                _cut(run, error)
        self._end()
        answered: list[HotRequest] = []
        for run, _ in reads:
            try:
                answered += run.turn_ended()
            except Exception as error:  # noqa: BLE001 - as above
                _cut(run, error)
        self._answered(answered)


def _cut(run: TurnRun, error: Exception) -> None:
    """Report a defect, and end the connection, as the event loop does after one in a callback."""
    context = {"message": "a connection failed to carry out its requests", "exception": error}
    asyncio.get_running_loop().call_exception_handler(context)
    run.cut()
