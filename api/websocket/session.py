"""One WebSocket connection, without the connection: frames in, commands out; answers in, frames out.

It owns the order: requests are carried out as they came, and answered as they came, an array by an array.
Its owner (`api.websocket.endpoint`, or a test) does three things::

    session.receive(frame)                      # as often as frames come
    while turn := session.next_turn():          # commands to be carried out, in order
        for frame in session.replies(turn, answers):
            ...                                 # send it, before asking for the next

Pushes leave by `Outlet.send` whenever the store answers. There is no task, socket or clock in here.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, islice
from typing import Any, Final, NamedTuple, Protocol

from pydantic import BaseModel, ValidationError

from tailrace.api import websocket_limits as limits
from tailrace.api.access.rates import Quota, require_quota
from tailrace.api.access.security import Guard
from tailrace.api.ports import StoreUnavailable, StreamStore
from tailrace.api.principals import Unauthenticated
from tailrace.api.problems.table import HttpCode, RequestRefused
from tailrace.api.websocket.codecs import Codec, Envelope
from tailrace.api.websocket.frames import Frame, ReadRequest, split_frame
from tailrace.api.websocket.plans import Answers, Plan, Planner
from tailrace.api.websocket.pushes import Failure, problem_for
from tailrace.api.websocket.request import RequestId
from tailrace.api.websocket.requests import REQUESTS
from tailrace.api.websocket.shared_reads import SharedReads
from tailrace.api.websocket.subscription_book import SubscriptionBook
from tailrace.api.websocket.unsettled import Unsettled
from tailrace.api.websocket_limits import (
    BACKLOG_MAX,
    FRAME_MISTAKES_LISTED_MAX,
    MISTAKE_BYTES,
    REPLY_BYTES_MAX,
    REQUESTS_PER_FRAME_MAX,
    TURN_BYTES_MAX,
    TURN_REQUESTS_MAX,
)
from tailrace.api.wire.bodies import mismatch, refused
from tailrace.core.bounds.reply_room import ReplyRoom
from tailrace.core.commands import Command
from tailrace.core.errors import ErrorCode, StreamError, kept

SHOWN_LIMITS: Final = (
    "frame_bytes_max",
    "requests_per_frame_max",
    "subscriptions_max",
    "watched_streams_max",
    "filter_fields_max",
    "filter_values_max",
    "credit_max",
    "push_entries_max",
    "push_bytes_max",
    "output_bytes_max",
    "reply_bytes_max",
)
"""What the server's first frame tells of `api.websocket_limits`."""


class Outlet(Protocol):
    """The way to the client."""

    @property
    def is_congested(self) -> bool:
        """Whether much sent data still waits; `WebSocketSession.drained` is called afterwards."""
        ...

    def send(self, frame: bytes) -> None:
        """Send one frame, or queue it; after the connection has gone, do nothing."""
        ...

    def restarting(self) -> None:
        """The store has stopped serving: close the connection with 1012."""
        ...


class _Exchange:
    """One frame of requests, and the replies so far. `room`: what they may take together."""

    __slots__ = ("_is_array", "_missing", "_mistakes_left", "_replies", "room")

    def __init__(self, request_count: int, *, is_array: bool) -> None:
        self.room = ReplyRoom(REPLY_BYTES_MAX)
        self._is_array = is_array
        self._missing = request_count
        self._replies: list[bytes] = []
        self._mistakes_left = FRAME_MISTAKES_LISTED_MAX

    def refusal(self, error: ValidationError, model: type[BaseModel]) -> RequestRefused:
        """The error for a request that pydantic refused as `model`."""
        # To describe mistakes takes much longer than to find them.
        return _not_listed() if self._mistakes_left <= 0 else self.listed(refused(error, model))

    def listed(self, refusal: RequestRefused) -> RequestRefused:
        """`refusal`, without its mistakes if the replies have listed too many of them."""
        if not refusal.errors:
            return refusal
        self._mistakes_left -= len(refusal.errors)
        return _not_listed() if self._mistakes_left < 0 else refusal

    def add(self, reply: bytes, codec: Codec) -> bytes | None:
        """The whole answer, once its last part is there."""
        if not self._is_array:
            return reply
        self._replies.append(reply)
        self._missing -= 1
        return None if self._missing else codec.joined(self._replies)


class _Received(NamedTuple):
    """A request that has no plan yet."""

    request: ReadRequest
    exchange: _Exchange

    @property
    def unread_bytes(self) -> int:
        """Bytes that its plan must still decode."""
        return len(self.request.raw) if self.request.content is None else 0


class _Pending(NamedTuple):
    """A request that waits for its turn: what to do, or why nothing is done."""

    request_id: RequestId | None
    plan: Plan | StreamError | RequestRefused | Unauthenticated
    exchange: _Exchange

    @property
    def commands(self) -> Sequence[Command]:
        return self.plan.commands if isinstance(self.plan, Plan) else ()

    @property
    def explained_bytes(self) -> int:
        """The work to describe its mistakes, as bytes to decode."""
        if isinstance(self.plan, Plan):
            return 0
        mistakes = self.plan.errors if isinstance(self.plan, RequestRefused) else ()
        return MISTAKE_BYTES * (1 + len(mistakes))


class Turn(NamedTuple):
    """Requests that are carried out together."""

    requests: Sequence[_Pending]

    @property
    def commands(self) -> list[Command]:
        """What to give to the store, in order."""
        return [command for request in self.requests for command in request.commands]

    @property
    def commands_by_request(self) -> list[Sequence[Command]]:
        """The same, request by request."""
        return [request.commands for request in self.requests]

    @property
    def rooms(self) -> list[ReplyRoom]:
        """What the replies of each request may take: the requests of a frame share a room."""
        return [request.exchange.room for request in self.requests]


def _uncounted() -> None:
    """Requests come as fast as they like."""


class WebSocketSession:
    """The server's side of one connection.

    `release`: carries out commands of the session's own (XNACK), after what it has carried out before.
    `guard`: the rights under which all is done that the client asks for.
    `take`: counts one request; what became of it, None where requests are not counted.
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
        self._inbox: deque[_Received | _Pending] = deque()
        self._has_left = False
        self._is_closed = False
        self._book = SubscriptionBook(self, store, reads, self.unsettled)
        self._planner = Planner(codec, self._book, self.unsettled, guard)

    # --- requests ------------------------------------------------------------------------------

    def greeting(self, version: str) -> bytes:
        """The server's first frame."""
        shown = {name: getattr(limits, name.upper()) for name in SHOWN_LIMITS}
        hello = {"version": version, "subprotocol": self.codec.subprotocol, "limits": shown}
        return self.codec.encode({"hello": hello})

    @property
    def is_behind(self) -> bool:
        """Whether enough requests wait for their turn: receive no more until some have had it."""
        return len(self._inbox) >= BACKLOG_MAX and not self._is_closed

    @property
    def has_waiting(self) -> bool:
        """True if requests wait for their turn."""
        return bool(self._inbox)

    def receive(self, data: str | bytes | Frame) -> None:
        """Take one frame; the requests in it wait for their turn. A large frame is better read before, by
        `read_frame`. After the end of the session, the frame is dropped.

        Raises `ProtocolViolation`: the connection must be closed.
        """
        if self._is_closed:
            return
        is_array, requests = data if isinstance(data, Frame) else split_frame(self.codec, data)
        if not 0 < len(requests) <= REQUESTS_PER_FRAME_MAX:
            self._inbox.append(_refused_frame(len(requests)))
            return
        exchange = _Exchange(len(requests), is_array=is_array)
        self._inbox.extend(_Received(request, exchange) for request in requests)

    def _pending(self, received: _Received) -> _Pending:
        request, exchange = received
        request_id = None
        quota = self._take()
        try:
            envelope = request.envelope or self.codec.envelope(request.raw)
            request_id = _usable_id(envelope.id)
            require_quota(quota)
            return _Pending(request_id, self._plan(envelope, request), exchange)
        except ValidationError as error:
            return _Pending(request_id, exchange.refusal(error, REQUESTS[envelope.op]), exchange)
        except RequestRefused as error:
            return _Pending(request_id, kept(exchange.listed(error)), exchange)
        except (StreamError, Unauthenticated) as error:
            return _Pending(request_id, kept(error), exchange)

    def _plan(self, envelope: Envelope, request: ReadRequest) -> Plan:
        if request.content is not None:
            return self._planner.plan_read(request.content)
        return self._planner.plan(envelope, request.raw)

    def next_turn(self) -> Turn | None:
        """The next requests to carry out, None where none wait.

        It plans these requests only: `TURN_REQUESTS_MAX` and `TURN_BYTES_MAX` limit the work of one call.
        """
        if not self._inbox or self._is_closed:
            return None
        requests: list[_Pending] = []
        left_bytes = TURN_BYTES_MAX
        while self._inbox and len(requests) < TURN_REQUESTS_MAX and left_bytes > 0:
            first = self._inbox.popleft()
            if isinstance(first, _Received):
                pending = self._pending(first)
                left_bytes -= first.unread_bytes + pending.explained_bytes
            else:
                # It was planned for an earlier turn, which had no time for it.
                pending = first
            requests.append(pending)
        return Turn(requests)

    def replies(self, turn: Turn, answers: Answers | StoreUnavailable) -> Iterator[bytes]:
        """Frames, each to be sent before the next is asked for: large replies are made one by one.

        `answers`: of the turn's commands in order, or why none was carried out. Where there are answers for
        the first commands only, the requests that lack one wait for the next turn.
        """
        remaining = answers if isinstance(answers, StoreUnavailable) else iter(answers)
        for request in self._carried_out(turn, answers):
            if isinstance(remaining, StoreUnavailable):
                content = self._content(request, remaining if request.commands else ())
            else:
                content = self._content(request, list(islice(remaining, len(request.commands))))
            frame = request.exchange.add(self.codec.encode(content), self.codec)
            if frame is not None:
                yield frame
                self._book.arm_fresh()

    def _carried_out(self, turn: Turn, answers: Answers | StoreUnavailable) -> Sequence[_Pending]:
        """The requests of the turn that have their answers; the others go back, in their order."""
        if isinstance(answers, StoreUnavailable):
            return turn.requests
        asked = list(accumulate(len(request.commands) for request in turn.requests))
        count = bisect_right(asked, len(answers))
        self._inbox.extendleft(reversed(turn.requests[count:]))
        return turn.requests[:count]

    def _content(self, request: _Pending, answers: Answers | StoreUnavailable) -> dict[str, Any]:
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
        """Whether nothing should be pushed now."""
        return self._has_left or self._outlet.is_congested

    def drained(self) -> None:
        """The outlet is no longer congested."""
        if not self._has_left:
            self._book.arm_all()

    def send(self, frame: bytes) -> None:
        """Push one frame."""
        self._outlet.send(frame)

    def subscription_ended(self, sub: RequestId, failure: Failure) -> None:
        """A subscription ended by itself; where the store has closed, so must the connection."""
        self._book.forget(sub)
        if isinstance(failure, StoreUnavailable):
            self._outlet.restarting()

    def give_back(self, commands: Sequence[Command]) -> None:
        """Entries came for a subscription that is over."""
        self._release(commands)

    def end_access(self, error: Unauthenticated) -> None:
        """End every subscription with `error`, because the token is no longer valid."""
        self._book.end_all(error)
        self.close()

    def client_left(self) -> None:
        """The client has ended the connection: push nothing more. What it asked for before that, such as to
        acknowledge its last entries, is carried out still, though it will not hear of it."""
        self._has_left = True
        self._book.close()

    def close(self) -> None:
        """The connection has ended: wait for nothing, push nothing, carry out nothing more."""
        self._has_left = True
        self._is_closed = True
        self._inbox.clear()
        self._book.close()


def _refused_frame(request_count: int) -> _Pending:
    told = f"{request_count} requests: 1 to {REQUESTS_PER_FRAME_MAX} may stand in one frame"
    refusal = RequestRefused(ErrorCode.LIMIT_EXCEEDED, told)
    return _Pending(None, refusal, _Exchange(1, is_array=False))


def _not_listed() -> RequestRefused:
    told = "it does not match its schema; the replies to this message list too many mistakes already"
    return RequestRefused(HttpCode.BODY_MISMATCH, told)


def _usable_id(value: object) -> RequestId:
    """Return the request's id. Raises `RequestRefused` without one: the client could not match the answer."""
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise mismatch([("/id", "a request has an id, an integer or a string")])
