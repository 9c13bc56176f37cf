"""The inbox of a connection: its requests wait here for their turn, and get their plans when it comes.

It owns their order, their number and the size of a turn, and counts each request for the rate limit. It never
runs a command.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TypeAlias

from pydantic import ValidationError

from tailrace.api.access.rates import Quota, is_above, require_quota
from tailrace.api.principals import Unauthenticated
from tailrace.api.problems.table import RequestRefused
from tailrace.api.websocket.codecs import AppendRun, Codec, Envelope, PlainAppend
from tailrace.api.websocket.exchanges import (
    Exchange,
    PendingRequest,
    PendingRun,
    ReceivedRequest,
    ReceivedRun,
    Turn,
    refused_frame,
    usable_id,
)
from tailrace.api.websocket.frames import Frame, ReadRequest, one_by_one, split_frame
from tailrace.api.websocket.plans import Plan, Planner
from tailrace.api.websocket.requests import REQUESTS
from tailrace.api.websocket_limits import REQUESTS_PER_FRAME_MAX, TURN_BYTES_MAX, TURN_REQUESTS_MAX
from tailrace.core.errors import StreamError, kept

_Waiting: TypeAlias = PlainAppend | ReceivedRequest | ReceivedRun | PendingRequest | PendingRun


class Inbox:
    """The waiting requests of one connection. `count`: how many they are.

    `take`: counts one request and returns the quota, or None if requests are not counted.
    """

    def __init__(self, codec: Codec, planner: Planner, take: Callable[[], Quota | None]) -> None:
        self.count = 0
        self._codec = codec
        self._planner = planner
        self._take = take
        self._waiting: deque[_Waiting] = deque()

    def receive(self, data: str | bytes | Frame) -> None:
        """Add the requests of one frame. Raises `ProtocolViolation`: the connection must be closed."""
        append = None if isinstance(data, Frame) else self._codec.plain_append(data)
        if append is not None:
            self._waiting.append(append)
            self.count += 1
            return
        is_array, requests, count = data if isinstance(data, Frame) else split_frame(self._codec, data)
        if not 0 < count <= REQUESTS_PER_FRAME_MAX:
            self._waiting.append(refused_frame(count))
            self.count += 1
            return
        exchange = Exchange(count, is_array=is_array)
        self._waiting.extend(
            ReceivedRun(request, exchange)
            if isinstance(request, AppendRun)
            else ReceivedRequest(request, exchange)
            for request in requests
        )
        self.count += count

    def next_turn(self) -> Turn | None:
        """Return the next requests to run, or None if no request waits.

        It plans these requests only: `TURN_REQUESTS_MAX` and `TURN_BYTES_MAX` limit the work of one call.
        """
        if not self._waiting:
            return None
        requests: list[PendingRequest | PendingRun] = []
        left, left_bytes = TURN_REQUESTS_MAX, TURN_BYTES_MAX
        while self._waiting and left_bytes > 0 and (not requests or self._waiting[0].request_count <= left):
            first = self._waiting.popleft()
            if isinstance(first, PlainAppend):
                first = self._joined(first, left, left_bytes)
            left -= first.request_count
            if isinstance(first, ReceivedRun):
                left_bytes -= first.unread_bytes
                requests += self._pending_run(first)
            elif isinstance(first, ReceivedRequest):
                pending = self._pending(first, self._take())
                left_bytes -= first.unread_bytes + pending.work_bytes
                requests.append(pending)
            else:
                # The request was planned in an earlier turn, which ended before the request ran.
                requests.append(first)
        self.count -= TURN_REQUESTS_MAX - left
        return Turn(requests)

    def put_back(self, requests: Sequence[PendingRequest | PendingRun]) -> None:
        """Let requests of the last turn wait for the next one."""
        self._waiting.extendleft(reversed(requests))
        self.count += sum(request.request_count for request in requests)

    def clear(self) -> None:
        """Drop all requests."""
        self._waiting.clear()
        self.count = 0

    def _joined(self, first: PlainAppend, most: int, most_bytes: int) -> ReceivedRun | ReceivedRequest:
        """Return `first` with the appends to its stream that follow it, as many as may run in this turn. If
        they cannot be a run, return the first one, and let the others wait as requests of their own."""
        some, size_bytes = [first], len(first.raw)
        while self._waiting and len(some) < most and size_bytes < most_bytes:
            following = self._waiting[0]
            if not isinstance(following, PlainAppend) or following.key != first.key:
                break
            some.append(following)
            size_bytes += len(following.raw)
            self._waiting.popleft()
        run = self._codec.run_of(some) if len(some) > 1 else None
        if run is not None:
            return ReceivedRun(run, Exchange(len(some), is_array=False), size_bytes)
        apart = [ReceivedRequest(ReadRequest(each.raw), Exchange(1, is_array=False)) for each in some]
        self._waiting.extendleft(reversed(apart[1:]))
        return apart[0]

    # --- plans ---------------------------------------------------------------------------------

    def _pending_run(self, received: ReceivedRun) -> list[PendingRequest | PendingRun]:
        """Return the run; if one of its requests is refused, return each request by itself."""
        run, exchange, _ = received
        quotas = [self._take() for _ in run.request_ids]
        if not any(map(is_above, quotas)):
            command = self._planner.run_command(run)
            if command is not None:
                return [PendingRun(run, command, exchange)]
        apart = zip(one_by_one(run), quotas, strict=True)
        return [self._pending(ReceivedRequest(request, exchange), quota) for request, quota in apart]

    def _pending(self, received: ReceivedRequest, quota: Quota | None) -> PendingRequest:
        request, exchange = received
        request_id = None
        try:
            envelope = request.envelope or self._codec.envelope(request.raw)
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
