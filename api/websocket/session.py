"""One WebSocket connection without the socket: it turns frames into commands, and answers into frames.

Requests run in the order in which they arrive, and are answered in the same order; the requests of one array
have one array of replies. The owner of a session (`api.websocket.endpoint`, or a test) uses it as follows::

    session.receive(frame)                      # for each frame that arrives
    while turn := session.next_turn():          # commands to run, in order
        for frame in session.replies(turn, answers):
            ...                                 # send it before asking for the next one

Pushes leave through `Outlet.send` when the store answers. The session has no task, socket or clock.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, islice
from typing import Any

from pydantic import ValidationError

from tailrace.api.access.rates import Quota, require_quota
from tailrace.api.access.security import Guard
from tailrace.api.ports import StoreUnavailable, StreamStore
from tailrace.api.principals import Unauthenticated
from tailrace.api.problems.table import RequestRefused
from tailrace.api.websocket.codecs import Codec, Envelope
from tailrace.api.websocket.exchanges import (
    Exchange,
    PendingRequest,
    ReceivedRequest,
    Turn,
    refused_frame,
    usable_id,
)
from tailrace.api.websocket.frames import Frame, ReadRequest, split_frame
from tailrace.api.websocket.outlets import Outlet
from tailrace.api.websocket.plans import Answers, Plan, Planner
from tailrace.api.websocket.pushes import Failure, problem_for
from tailrace.api.websocket.request import RequestId
from tailrace.api.websocket.requests import REQUESTS
from tailrace.api.websocket.shared_reads import SharedReads
from tailrace.api.websocket.subscription_book import SubscriptionBook
from tailrace.api.websocket.unsettled import Unsettled
from tailrace.api.websocket_limits import (
    BACKLOG_MAX,
    REQUESTS_PER_FRAME_MAX,
    TURN_BYTES_MAX,
    TURN_REQUESTS_MAX,
)
from tailrace.core.commands import Command
from tailrace.core.errors import StreamError, kept


def _uncounted() -> None:
    """Return None: requests are not counted."""


class WebSocketSession:
    """The server's side of one connection.

    `release`: runs commands of the session itself (XNACK), after the commands that are already running.
    `guard`: the rights of the client. `take`: counts one request and returns the quota, or None if requests
    are not counted.
    """

    def __init__(
        self,
        codec: Codec,
        store: StreamStore,
        reads: SharedReads,
        outlet: Outlet,
        release: Callable[[Sequence[Command]], None],
        guard: Guard,
        take: Callable[[], Quota | None] = _uncounted,
    ) -> None:
        self.codec = codec
        self.unsettled = Unsettled()
        self._outlet = outlet
        self._release = release
        self._take = take
        self._inbox: deque[ReceivedRequest | PendingRequest] = deque()
        self._has_left = False
        self._is_closed = False
        self._book = SubscriptionBook(self, store, reads, self.unsettled)
        self._planner = Planner(codec, self._book, self.unsettled, guard)

    # --- requests ------------------------------------------------------------------------------

    @property
    def is_behind(self) -> bool:
        """True if so many requests wait that no more should be received."""
        return len(self._inbox) >= BACKLOG_MAX and not self._is_closed

    @property
    def has_waiting(self) -> bool:
        """True if requests wait for their turn."""
        return bool(self._inbox)

    def receive(self, data: str | bytes | Frame) -> None:
        """Accept one frame; its requests wait for their turn. Read a large frame with `read_frame` first.

        After the end of the session, the frame is dropped.

        Raises `ProtocolViolation`: the connection must be closed.
        """
        if self._is_closed:
            return
        is_array, requests = data if isinstance(data, Frame) else split_frame(self.codec, data)
        if not 0 < len(requests) <= REQUESTS_PER_FRAME_MAX:
            self._inbox.append(refused_frame(len(requests)))
            return
        exchange = Exchange(len(requests), is_array=is_array)
        self._inbox.extend(ReceivedRequest(request, exchange) for request in requests)

    def _pending(self, received: ReceivedRequest) -> PendingRequest:
        request, exchange = received
        request_id = None
        quota = self._take()
        try:
            envelope = request.envelope or self.codec.envelope(request.raw)
            request_id = usable_id(envelope.id)
            require_quota(quota)
            return PendingRequest(request_id, self._plan(envelope, request), exchange)
        except ValidationError as error:
            return PendingRequest(request_id, exchange.refusal(error, REQUESTS[envelope.op]), exchange)
        except RequestRefused as error:
            return PendingRequest(request_id, kept(exchange.listed(error)), exchange)
        except (StreamError, Unauthenticated) as error:
            return PendingRequest(request_id, kept(error), exchange)

    def _plan(self, envelope: Envelope, request: ReadRequest) -> Plan:
        if request.content is not None:
            return self._planner.plan_read(request.content)
        return self._planner.plan(envelope, request.raw)

    def next_turn(self) -> Turn | None:
        """Return the next requests to run, or None if no request waits.

        It plans these requests only: `TURN_REQUESTS_MAX` and `TURN_BYTES_MAX` limit the work of one call.
        """
        if not self._inbox or self._is_closed:
            return None
        requests: list[PendingRequest] = []
        left_bytes = TURN_BYTES_MAX
        while self._inbox and len(requests) < TURN_REQUESTS_MAX and left_bytes > 0:
            first = self._inbox.popleft()
            if isinstance(first, ReceivedRequest):
                pending = self._pending(first)
                left_bytes -= first.unread_bytes + pending.work_bytes
            else:
                # The request was planned in an earlier turn, which ended before the request ran.
                pending = first
            requests.append(pending)
        return Turn(requests)

    def replies(self, turn: Turn, answers: Answers | StoreUnavailable) -> Iterator[bytes]:
        """Yield the frames of the replies. Send each frame before asking for the next one.

        `answers`: of the commands of the turn, in order, or why no command ran. If there are answers for the
        first commands only, the other requests wait for the next turn.
        """
        remaining = answers if isinstance(answers, StoreUnavailable) else iter(answers)
        for request in self._answered(turn, answers):
            if isinstance(remaining, StoreUnavailable):
                content = self._content(request, remaining if request.commands else ())
            else:
                content = self._content(request, list(islice(remaining, len(request.commands))))
            frame = request.exchange.add(self.codec.encode(content), self.codec)
            if frame is not None:
                yield frame
                self._book.arm_fresh()

    def _answered(self, turn: Turn, answers: Answers | StoreUnavailable) -> Sequence[PendingRequest]:
        """Return the requests of the turn that have all their answers; put the others back in order."""
        if isinstance(answers, StoreUnavailable):
            return turn.requests
        asked = list(accumulate(len(request.commands) for request in turn.requests))
        count = bisect_right(asked, len(answers))
        self._inbox.extendleft(reversed(turn.requests[count:]))
        return turn.requests[:count]

    def _content(self, request: PendingRequest, answers: Answers | StoreUnavailable) -> dict[str, Any]:
        plan = request.plan
        try:
            if isinstance(plan, Plan):
                plan.record(answers)
            if isinstance(answers, StoreUnavailable):
                raise answers
            if not isinstance(plan, Plan):
                raise plan
            return {"id": request.request_id, "ok": plan.finish(answers)}
        except (StreamError, RequestRefused, StoreUnavailable, Unauthenticated) as failure:
            return {"id": request.request_id, "error": problem_for(failure)}

    # --- pushes --------------------------------------------------------------------------------

    @property
    def is_congested(self) -> bool:
        """True if nothing should be pushed now."""
        return self._has_left or self._outlet.is_congested

    def drained(self) -> None:
        """Continue to push, because the outlet is no longer congested."""
        if not self._has_left:
            self._book.arm_all()

    def send(self, frame: bytes) -> None:
        """Push one frame."""
        self._outlet.send(frame)

    def subscription_ended(self, sub: RequestId, failure: Failure) -> None:
        """Forget a subscription that ended by itself. If the store has closed, close the connection."""
        self._book.forget(sub)
        if isinstance(failure, StoreUnavailable):
            self._outlet.restarting()

    def give_back(self, commands: Sequence[Command]) -> None:
        """Return entries that arrived for a subscription that has ended."""
        self._release(commands)

    def end_access(self, error: Unauthenticated) -> None:
        """End every subscription with `error`, because the token is no longer valid."""
        self._book.end_all(error)
        self.close()

    def client_left(self) -> None:
        """Push nothing more, because the client has closed the connection.

        Requests that it sent before, such as its last acknowledgments, still run.
        """
        self._has_left = True
        self._book.close()

    def close(self) -> None:
        """End the session: drop waiting requests, and push nothing more."""
        self._has_left = True
        self._is_closed = True
        self._inbox.clear()
        self._book.close()
