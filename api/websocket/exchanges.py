"""The requests of a connection on their way to their replies: received, planned, run in turns, answered.

It owns the state that the requests of one frame share: the room of the replies, and the number of mistakes
that they list. It never plans a request and never runs a command; `api.websocket.session` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pydantic import BaseModel, ValidationError

from tailrace.api.ports import StoreUnavailable
from tailrace.api.principals import Unauthenticated
from tailrace.api.problems.table import HttpCode, RequestRefused, problem_of
from tailrace.api.websocket.codecs import AppendRun, Codec
from tailrace.api.websocket.frames import ReadRequest
from tailrace.api.websocket.plans import Answers, Plan
from tailrace.api.websocket.requests import RequestId
from tailrace.api.websocket_limits import (
    FRAME_MISTAKES_LISTED_MAX,
    MISTAKE_BYTES,
    REPLY_BYTES_MAX,
    REQUESTS_PER_FRAME_MAX,
)
from tailrace.api.wire.bodies import mismatch, refused
from tailrace.core.bounds.reply_room import ReplyRoom
from tailrace.core.commands import Append, Command
from tailrace.core.errors import ErrorCode, StreamError, ids_exhausted
from tailrace.core.replies import AppendReply
from tailrace.core.stream_id import StreamId


class Exchange:
    """One frame of requests, and its replies so far; or several frames with one request each, whose replies
    are frames too. `room`: the room that all its replies share."""

    __slots__ = ("_missing", "_mistakes_left", "_pieces", "_request_count", "is_array", "room")

    def __init__(self, request_count: int, *, is_array: bool) -> None:
        self.room = ReplyRoom(REPLY_BYTES_MAX)
        self.is_array = is_array
        self._request_count = self._missing = request_count
        self._pieces: list[bytes] = []
        self._mistakes_left = FRAME_MISTAKES_LISTED_MAX

    def refusal(self, error: ValidationError, model: type[BaseModel]) -> RequestRefused:
        """Return the error of a request that pydantic rejected as `model`."""
        # Describing mistakes takes much longer than finding them.
        return _not_listed() if self._mistakes_left <= 0 else self.listed(refused(error, model))

    def listed(self, refusal: RequestRefused) -> RequestRefused:
        """Return `refusal`, without its mistakes if the replies already list too many."""
        if not refusal.errors:
            return refusal
        self._mistakes_left -= len(refusal.errors)
        return _not_listed() if self._mistakes_left < 0 else refusal

    def add(self, piece: bytes, count: int, codec: Codec) -> Sequence[bytes]:
        """Add a piece of `count` replies. Return the frames to send: none before the last reply of an
        array."""
        if not self.is_array:
            return (piece,)
        self._pieces.append(piece)
        self._missing -= count
        return () if self._missing else (codec.joined(self._pieces, self._request_count),)


class ReceivedRequest(NamedTuple):
    """A request that has no plan yet."""

    request: ReadRequest
    exchange: Exchange

    @property
    def request_count(self) -> int:
        """Return 1: it is one request."""
        return 1

    @property
    def unread_bytes(self) -> int:
        """How many bytes its plan must still decode."""
        return len(self.request.raw) if self.request.content is None else 0


class PendingRequest(NamedTuple):
    """A request that waits for its turn: its plan, or the error to reply with."""

    request_id: RequestId | None
    plan: Plan | StreamError | RequestRefused | Unauthenticated
    exchange: Exchange

    @property
    def request_count(self) -> int:
        """Return 1: it is one request."""
        return 1

    @property
    def commands(self) -> Sequence[Command]:
        """The commands of its plan; none for an error."""
        return self.plan.commands if isinstance(self.plan, Plan) else ()

    @property
    def work_bytes(self) -> int:
        """The work of its plan, or of describing its mistakes, counted as bytes to decode."""
        if isinstance(self.plan, Plan):
            return self.plan.work_bytes
        mistakes = self.plan.errors if isinstance(self.plan, RequestRefused) else ()
        return MISTAKE_BYTES * (1 + len(mistakes))


class ReceivedRun(NamedTuple):
    """Adjacent appends to one stream that have no command yet: of one array, or of a frame each.
    `unread_bytes`: how many bytes of them were read for this turn."""

    run: AppendRun
    exchange: Exchange
    unread_bytes: int = 0

    @property
    def request_count(self) -> int:
        """How many appends they are."""
        return len(self.run.fragments)


class PendingRun(NamedTuple):
    """Adjacent appends to one stream that wait for their turn as one command. The replies are those of the
    same appends one by one."""

    run: AppendRun
    command: Append
    exchange: Exchange

    @property
    def request_count(self) -> int:
        """How many appends they are."""
        return len(self.run.fragments)

    @property
    def commands(self) -> Sequence[Command]:
        """The command of all its appends."""
        return (self.command,)

    def replies(self, codec: Codec, answers: Answers | StoreUnavailable) -> Sequence[bytes]:
        """Return the frames that the replies to its appends complete. O(appends)."""
        answer = answers if isinstance(answers, StoreUnavailable) else answers[0]
        if isinstance(answer, (StreamError, StoreUnavailable)):
            return self._frames(codec, (), answer)
        assert isinstance(answer, AppendReply), "an append of a run creates its stream"
        return self._frames(codec, answer.ids, None)

    def _frames(
        self, codec: Codec, ids: Sequence[StreamId], failure: StreamError | StoreUnavailable | None
    ) -> Sequence[bytes]:
        """`ids`: of the first appends, which succeeded. `failure`: of the others; None: the ids are used
        up."""
        request_ids = self.run.request_ids
        done, left = request_ids[: len(ids)], request_ids[len(ids) :]
        failed = _refusals(codec, left, failure or ids_exhausted()) if left else []
        if not self.exchange.is_array:
            return codec.appended_apart(done, ids) + failed
        pieces = [codec.appended(done, ids), *failed] if done else failed
        return self.exchange.add(codec.piece(pieces), self.request_count, codec)


def _refusals(
    codec: Codec, request_ids: Sequence[RequestId], failure: StreamError | StoreUnavailable
) -> list[bytes]:
    return [
        codec.encode({"id": request_id, "error": problem_of(failure, None)}) for request_id in request_ids
    ]


class Turn(NamedTuple):
    """Requests whose commands run together."""

    requests: Sequence[PendingRequest | PendingRun]

    @property
    def commands(self) -> list[Command]:
        """All commands for the store, in order."""
        return [command for request in self.requests for command in request.commands]

    @property
    def commands_by_request(self) -> list[Sequence[Command]]:
        """The commands of each request."""
        return [request.commands for request in self.requests]

    @property
    def rooms(self) -> list[ReplyRoom]:
        """The room for the replies of each request; the requests of one frame share a room."""
        return [request.exchange.room for request in self.requests]


def refused_frame(request_count: int) -> PendingRequest:
    """Return the answer to a frame that has too many requests, or none."""
    told = f"the frame has {request_count} requests; it can have 1 to {REQUESTS_PER_FRAME_MAX}"
    refusal = RequestRefused(ErrorCode.LIMIT_EXCEEDED, told)
    return PendingRequest(None, refusal, Exchange(1, is_array=False))


def _not_listed() -> RequestRefused:
    told = "it does not match its schema; the replies to this message list too many mistakes already"
    return RequestRefused(HttpCode.BODY_MISMATCH, told)


def usable_id(value: object) -> RequestId:
    """Return the request's id. Raises `RequestRefused` without one: the client could not match the answer."""
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise mismatch([("/id", "a request has an id, an integer or a string")])
