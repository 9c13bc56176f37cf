"""The appends of one turn of the event loop, on all connections of a server: kept, run together, answered.

A turn of the loop reads from many connections. Their appends cost less together (`app.store.joined_appends`),
so the reads are kept until all connections were read, and are carried out then. Each read is carried out as
if it had arrived at that moment, in the order of arrival. A connection on which something else happens before
ends the turn early, so events of one connection stay in order. Most reads are one append with the head of the
append before it, so they need no run (`hot_run`). This module never looks into any other read.

An answer that is known at once also waits until all connections were read: sending it wakes the client.

Two shortcuts make appends that run together cheap. All requests of a client to a stream have the same
permission, so it is checked once in a turn. The answers to a run differ in two places only, the ids of
request and entry: the answer after another one is the same bytes with the other ids, as long as the id of the
entry has the same millisecond and the same length. A request that the shortcuts do not fit is submitted and
answered alone (`hot_routes`).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import Final

from tailrace.api.operations.appends import xadd_bytes
from tailrace.api.operations.headers import HotClient
from tailrace.api.operations.table import XADD
from tailrace.api.ports import Answer, Joining
from tailrace.api.problems.table import RequestRefused
from tailrace.api.wire.negotiation import JSON
from tailrace.app.protocols.heads import AnswerStarts, PlainHead, answer_head
from tailrace.app.protocols.hot_observer import HotObserver
from tailrace.app.protocols.hot_request import HotConnection, HotRequest, request_of
from tailrace.core.commands import Append, Command
from tailrace.core.limits import MIB
from tailrace.core.replies import AppendReply
from tailrace.core.stream_id import U64_MAX, StreamId

SINGLE_TURNS_MAX: Final = 4
READS_AT_ONCE: Final = 256
"""After `SINGLE_TURNS_MAX` turns with one read, `READS_AT_ONCE` reads are carried out and answered at once:
keeping a read costs a quarter of the request of a client alone, and gains nothing."""

KEPT_BYTES_MAX: Final = MIB
"""When the kept reads take more bytes together, the turn ends early, so that they need little memory."""

UNSENT_NS_MAX: Final = 1_000_000
"""How long an answer may wait for others of the turn. Sending wakes the client, which takes as long as a
small request unless the client is already awake."""


class HotTurn:
    """The kept reads of one server."""

    def __init__(self, joined: JoinedRequests, observer: HotObserver) -> None:
        self._joined = joined
        self._observer = observer
        self._reads: list[tuple[HotConnection, bytes, PlainHead | None]] = []
        self._kept_bytes = 0
        self._single_turns = 0
        """How many of the last turns had one read only."""
        self._reads_at_once = 0
        """How many reads were not kept since then."""
        self._unsent: list[HotConnection] = []
        self._send_by_ns = 0
        """When the answers in `_unsent` are sent if the turn takes long."""

    def read(self, run: HotConnection, data: bytes, single: PlainHead | None) -> None:
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
            run.carry_out_single(single, data, is_alone=True)
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

    def send_later(self, run: HotConnection, now_ns: int) -> None:
        """Let the run send its answer at the end of the turn, together with the answers to other
        connections; at once if other connections probably send nothing in this turn."""
        unsent = self._unsent
        if not unsent:
            if not self._keeps():
                run.send()
                return
            asyncio.get_running_loop().call_soon(self._send)
            self._send_by_ns = now_ns + UNSENT_NS_MAX
        unsent.append(run)
        if now_ns >= self._send_by_ns:
            self._send()

    def _send(self) -> None:
        unsent, self._unsent = self._unsent, []
        self._single_turns = self._single_turns + 1 if len(unsent) == 1 else 0
        for run in unsent:
            run.send()

    def carry_out_alone(self, run: HotConnection, data: bytes) -> None:
        """Carry out a read whose requests do not wait for others."""
        run.carry_out_known(data, time.perf_counter_ns())
        self._observer.answered(run.turn_ended())

    def _carry_out(self, reads: Sequence[tuple[HotConnection, bytes, PlainHead | None]]) -> None:
        now_ns = time.perf_counter_ns()
        joined = self._joined
        singles: list[HotRequest] = []
        runs: list[HotConnection] = []
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

    def _end_runs(self, runs: Sequence[HotConnection]) -> None:
        answered: list[HotRequest] = []
        for run in runs:
            try:
                answered += run.turn_ended()
            except Exception as error:  # noqa: BLE001 - as above
                _cut(run, error)
        self._observer.answered(answered)


def _cut(run: HotConnection, error: Exception) -> None:
    """Report a defect, and end the connection, as the event loop does after one in a callback."""
    context = {"message": "a connection failed to carry out its requests", "exception": error}
    asyncio.get_running_loop().call_exception_handler(context)
    run.cut()


# --- checks ----------------------------------------------------------------------------------------


class JoinedRequests:
    """Implements `api.ports.JoinedReceiver` for one server.

    `joining`: None if the store runs no appends together. `may_append`: whether the client of a request may
    append to a stream; None if each request is counted, so that each is checked alone. `submitted`: notes
    that the answer to a request waits for the disk.
    """

    def __init__(
        self,
        joining: Joining | None,
        may_append: Callable[[HotRequest, bytes], bool] | None,
        submitted: Callable[[HotRequest], None],
        answers: AppendAnswers,
    ) -> None:
        self._joining = joining
        self._may_append = may_append
        self._submitted = submitted
        self._answers = answers
        self.is_open = False
        """Whether appends wait for each other."""
        self.takes_unchecked = joining is not None and may_append is not None
        """Whether `take` may be called while `is_open`."""
        self._checked: set[tuple[HotClient, bytes]] = set()
        """The clients that may append, with the stream: they were checked in this turn."""

    def begin(self) -> None:
        """Let appends wait for each other."""
        if self._joining is not None:
            self.is_open = True
            self._joining.begin(self)

    def end(self) -> None:
        """Run the appends that wait. Unless they wait for the disk, their requests then have answers."""
        if self._joining is not None:
            self._joining.end()
            self.is_open = False
            self._checked.clear()

    def take(self, request: HotRequest) -> bool:
        """Check an append, let it wait for others, and return True. Return False if it must be submitted
        alone."""
        key, joining, may_append = request.route.joins, self._joining, self._may_append
        if key is None or joining is None or may_append is None:
            return False
        checked = request.headers.client, key
        if checked not in self._checked:
            if not may_append(request, key):
                return False
            self._checked.add(checked)
        fragment = request.connection.bodies.fragment_of(request.body)
        if fragment is None:
            return False
        try:
            idempotency = request.route.idempotency(request.body)
        except RequestRefused:
            return False
        return joining.take(key, fragment, request, idempotency)

    def take_checked(self, request: HotRequest, command: Command) -> bool:
        """Do the same with the command of a request that was checked because each one is counted."""
        # An append without options is equal to one of its key and fragments.
        return (
            self._joining is not None
            and self._may_append is None
            and request.route.joins is not None
            and isinstance(command, Append)
            and command == Append(command.key, command.fragments)
            and self._joining.take(command.key, command.fragments[0], request)
        )

    def receive(self, requests: Sequence[HotRequest], answer: Answer | Exception) -> None:
        """Answer the requests of one run: see the port."""
        if not self.is_open or not self.takes_unchecked:
            for request, single in zip(requests, _of_each(answer, len(requests)), strict=True):
                request.receive(single)
        elif isinstance(answer, AppendReply) and not answer.replayed:
            try:
                self._answers.give(requests, answer.ids)
            except Exception as error:  # noqa: BLE001 - a defect: answered as by the documented route
                self._receive_later(requests, error)
        else:
            self._receive_later(requests, answer)

    def _receive_later(self, requests: Sequence[HotRequest], answer: Answer | Exception) -> None:
        """Answer the requests when they wait for their answers, as for a disk: the turn has ended then."""
        asyncio.get_running_loop().call_soon(self.receive, requests, answer)

    def wait_began(self, requests: Sequence[HotRequest]) -> None:
        """Note that the answers wait for the disk: see the port."""
        for request in requests:
            self._submitted(request)


def _of_each(answer: Answer | Exception, count: int) -> Iterable[Answer | Exception]:
    """Return the answer of each request of a run."""
    if isinstance(answer, AppendReply) and count > 1:
        return (AppendReply((value,)) for value in answer.ids)
    return repeat(answer, count)


# --- answers ---------------------------------------------------------------------------------------

_REQUEST_ID: Final = "\0"
"""The place of the id of the request in a head: no head has this character."""

_BODY_END: Final = '"}'


class AppendAnswers:
    """The parts of the last answer. `starts`: the first lines of answers."""

    def __init__(self, starts: AnswerStarts) -> None:
        self._starts = starts
        self._start = ""
        self._lines = ""
        self._heads: dict[int, list[str]] = {}
        """The text before and after the id of the request, by the size of the body; all with `_start` and
        `_lines`."""
        self._base: StreamId = -1
        """The first id of the millisecond."""
        self._body = ""
        """The body up to the sequence number."""
        self._before = ""
        self._between = ""
        """The answer before the id of the request, and from there to the sequence number."""
        self._first: StreamId = 0
        self._end: StreamId = 0
        """Ids from `_first` up to `_end` differ in their sequence number only."""

    def give(self, requests: Sequence[HotRequest], ids: Sequence[StreamId]) -> None:
        """Set the answers of `requests`, which are 201. `ids` rise. O(requests)."""
        status = XADD.status
        first = requests[0]
        start = self._starts.of(status, first.connection.server_state.default_headers)
        lines = first.headers.client.answer_lines
        if start is not self._start or lines is not self._lines or not self._first <= ids[0] < self._end:
            self._divide(start, lines, ids[0])
        before, between, base, end = self._before, self._between, self._base, self._end
        for request, value in zip(requests, ids, strict=True):
            if value >= end or request.headers.client.answer_lines is not lines:
                lines = request.headers.client.answer_lines
                self._divide(start, lines, value)
                before, between, base, end = self._before, self._between, self._base, self._end
            request.status = status
            request.answer = f"{before}{request.request_id}{between}{value - base}{_BODY_END}".encode()

    def _divide(self, start: str, lines: str, value: StreamId) -> None:
        """Find the parts of the answer with the id `value` and the further headers `lines`."""
        seq = value & U64_MAX
        base = value - seq
        digits = len(str(seq))
        if base != self._base:
            self._base = base
            self._body = xadd_bytes(base).decode().removesuffix("0" + _BODY_END)
        if start is not self._start:
            self._start = start
            self._heads.clear()
        if lines is not self._lines:
            self._lines = lines
            self._heads.clear()
        size = len(self._body) + digits + len(_BODY_END)
        head = self._heads.get(size)
        if head is None:
            head = self._heads[size] = answer_head(start, size, JSON, _REQUEST_ID, lines).split(_REQUEST_ID)
        self._before, end_of_head = head
        self._between = end_of_head + self._body
        self._first = base + (10 ** (digits - 1) if digits > 1 else 0)
        self._end = base + min(10**digits, U64_MAX + 1)
