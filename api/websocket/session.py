"""One WebSocket connection without the socket: it turns frames into commands, and answers into frames.

Requests run in the order in which they arrive, and are answered in the same order; the requests of one array
have one array of replies. The owner of a session (`api.websocket.endpoint`, or a test) uses it as follows::

    session.receive(frame)                      # for each frame that arrives
    while turn := session.next_turn():          # commands to run, in order
        for frame in session.replies(turn, answers):
            ...                                 # pass it on before asking for the next one

Pushes leave through `Outlet.send` when the store answers. The session has no task, socket or clock.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, islice
from typing import Any

from tailrace.api.access.guard import Guard
from tailrace.api.access.rates import Quota
from tailrace.api.follow.followers import SharedReads
from tailrace.api.ports import StoreUnavailable, SubmitStore
from tailrace.api.principals import Unauthenticated
from tailrace.api.problems.table import Refusal, RequestRefused, problem_of
from tailrace.api.server_limits import DEFAULT_LIMITS, OpenLimit, OpenLimits
from tailrace.api.websocket.codecs import Codec
from tailrace.api.websocket.exchanges import (
    PendingRequest,
    PendingRun,
    Turn,
)
from tailrace.api.websocket.frames import Frame
from tailrace.api.websocket.inbox import Inbox
from tailrace.api.websocket.outlets import Outlet
from tailrace.api.websocket.plans import Answers, Plan, Planner
from tailrace.api.websocket.requests import RequestId
from tailrace.api.websocket.subscription_book import SubscriptionBook
from tailrace.api.websocket.unsettled import Unsettled
from tailrace.api.websocket_limits import (
    BACKLOG_MAX,
)
from tailrace.core.errors import StreamError


def _uncounted() -> None:
    """Return None: requests are not counted."""


class WebSocketSession:
    """The server's side of one connection.

    `release`: returns entries to their groups (XNACK), after the commands that are already running.
    `guard`: the rights of the client. `take`: counts one request and returns the quota, or None if requests
    are not counted. `open_limit`: that of all subscriptions of the server.
    """

    def __init__(
        self,
        codec: Codec,
        store: SubmitStore,
        reads: SharedReads,
        outlet: Outlet,
        release: Callable[[Unsettled], None],
        guard: Guard,
        take: Callable[[], Quota | None] = _uncounted,
        open_limit: OpenLimit | None = None,
    ) -> None:
        open_limit = open_limit or OpenLimits(DEFAULT_LIMITS).subscriptions
        self.codec = codec
        self.unsettled = Unsettled()
        self._outlet = outlet
        self._release = release
        self._has_left = False
        self._is_closed = False
        self._book = SubscriptionBook(self, store, reads, self.unsettled, open_limit)
        self._inbox = Inbox(codec, Planner(codec, self._book, self.unsettled, guard), take)

    # --- requests ------------------------------------------------------------------------------

    @property
    def is_behind(self) -> bool:
        """True if so many requests wait that no more should be received."""
        return self._inbox.count >= BACKLOG_MAX and not self._is_closed

    @property
    def has_waiting(self) -> bool:
        """True if requests wait for their turn."""
        return self._inbox.count > 0

    def receive(self, data: str | bytes | Frame) -> None:
        """Accept one frame; its requests wait for their turn. Read a large frame with `read_frame` first.

        After the end of the session, the frame is dropped.

        Raises `ProtocolViolation`: the connection must be closed.
        """
        if not self._is_closed:
            self._inbox.receive(data)

    def next_turn(self) -> Turn | None:
        """Return the next requests to run, or None if no request waits. It plans these requests only."""
        return None if self._is_closed else self._inbox.next_turn()

    def replies(self, turn: Turn, answers: Answers | StoreUnavailable) -> Iterator[bytes]:
        """Yield the frames of the replies. Pass each frame on before asking for the next one.

        `answers`: of the commands of the turn, in order, or why no command ran. If there are answers for the
        first commands only, the other requests wait for the next turn.
        """
        remaining = answers if isinstance(answers, StoreUnavailable) else iter(answers)
        for request in self._answered(turn, answers):
            own: Answers | StoreUnavailable
            if isinstance(remaining, StoreUnavailable):
                own = remaining if request.commands else ()
            else:
                own = list(islice(remaining, len(request.commands)))
            if isinstance(request, PendingRun):
                frames = request.replies(self.codec, own)
            else:
                frames = request.exchange.add(self.codec.encode(self._content(request, own)), 1, self.codec)
            if frames:
                yield from frames
                self._book.arm_fresh()

    def _answered(
        self, turn: Turn, answers: Answers | StoreUnavailable
    ) -> Sequence[PendingRequest | PendingRun]:
        """Return the requests of the turn that have all their answers; put the others back in order."""
        if isinstance(answers, StoreUnavailable):
            return turn.requests
        asked = list(accumulate(len(request.commands) for request in turn.requests))
        count = bisect_right(asked, len(answers))
        self._inbox.put_back(turn.requests[count:])
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
            return {"id": request.request_id, "error": problem_of(failure, None)}

    # --- pushes --------------------------------------------------------------------------------

    @property
    def is_congested(self) -> bool:
        """True if nothing should be pushed now."""
        return self._has_left or not self._outlet.can_push

    @property
    def is_closing(self) -> bool:
        """True if nothing can be pushed any more."""
        return self._has_left or self._outlet.is_closing

    def drained(self) -> None:
        """Continue to push, because the outlet is no longer congested."""
        if not self._has_left:
            self._book.arm_all()

    def send(self, frame: bytes) -> None:
        """Push one frame."""
        self._outlet.send(frame)

    def subscription_ended(self, sub: RequestId, failure: Refusal) -> None:
        """Forget a subscription that ended by itself. If the store has closed, close the connection."""
        self._book.forget(sub)
        if isinstance(failure, StoreUnavailable):
            self._outlet.restarting()

    def give_back(self, unsent: Unsettled) -> None:
        """Return entries that arrived for a subscription that has ended, or that is about to end."""
        self._release(unsent)

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
