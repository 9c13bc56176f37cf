"""Records hot requests, as `app.request_observer` records all other requests.

This module owns the metrics, the slow log, the access log and the traces of hot requests. It uses no task and
no scope, and creates no object for a request. It costs about 0.5 us per request if nothing is slow, logged or
traced.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from tailrace.app.observability.access_log import access_logger, log_request
from tailrace.app.observability.counters import CLIENT_GONE_STATUS, CommandFigures, RequestFigures
from tailrace.app.observability.slow_log import SlowLog
from tailrace.app.observability.timing import COMMIT, TimedPhase

if TYPE_CHECKING:
    from tailrace.app.observability.spans import Tracing
    from tailrace.app.protocols.hot_request import HotRequest


_KIND: Final = attrgetter("route.operation.name", "status", "ready_ns")


class HotObserver:
    """The observer for all connections of a server. `tracing`: None if there are no traces."""

    def __init__(
        self, requests: RequestFigures, slow_log: SlowLog, commands: CommandFigures, tracing: Tracing | None
    ) -> None:
        self._requests = requests
        self._slow_log = slow_log
        self._commands = commands
        self._tracing = tracing

    def submitted(self, request: HotRequest) -> None:
        """Record that the engine has executed the command, and that its answer waits for the disk."""
        request.engine_ns = self._commands.last_engine_ns
        request.submitted_ns = time.perf_counter_ns()

    def gone(self, request: HotRequest) -> None:
        """Record a request whose client left before its answer."""
        request.status = CLIENT_GONE_STATUS
        self.answered((request,))

    def answered(self, requests: Sequence[HotRequest]) -> None:
        """Record that the answers to these requests were written."""
        for alike in (requests,) if len(requests) == 1 else _alike(requests):
            self.answered_alike(alike)

    def answered_alike(self, requests: Sequence[HotRequest]) -> None:
        """Do the same for at least one request. All of them have the same operation and status, and were
        complete at the same time."""
        now_ns = time.perf_counter_ns()
        first = requests[0]
        duration_ns = now_ns - first.ready_ns
        self._requests.note(first.route.operation.name, first.status, duration_ns, len(requests))
        if duration_ns >= self._slow_log.threshold_ns:
            for request in requests:
                self._note_if_slow(request, now_ns)
        if self._tracing is not None:
            for request in requests:
                operation, request_id = request.route.operation.name, request.request_id
                self._tracing.note(
                    operation,
                    request.status,
                    request.method,
                    request_id,
                    request.started_ns,
                    request.headers.used.items(),
                    _phases_of(request, now_ns),
                )
        if access_logger.isEnabledFor(logging.INFO):
            for request in requests:
                path = request.head.target.partition(b"?")[0].decode("latin-1")
                log_request(request.request_id, request.method, path, request.status, request.started_ns)

    def _note_if_slow(self, request: HotRequest, now_ns: int) -> None:
        """Add the request to the slow log, unless only the disk was slow."""
        commit_ns = now_ns - request.submitted_ns if request.submitted_ns else 0
        own_ns = now_ns - request.ready_ns - commit_ns
        if own_ns < self._slow_log.threshold_ns:
            return
        executed = request.executed
        is_known = request.submitted_ns or not executed
        engine_ns = request.engine_ns if is_known else self._commands.last_engine_ns
        self._slow_log.note(
            request.route.operation.name,
            request.request_id,
            executed,
            engine_ns=engine_ns,
            commit_ns=commit_ns,
            other_ns=own_ns - engine_ns,
        )


def _phases_of(request: HotRequest, now_ns: int) -> Sequence[TimedPhase]:
    """Return what the request waited for: entries, or the disk."""
    if request.wait is not None:
        return (request.wait.phase,)
    return (TimedPhase(COMMIT, request.submitted_ns, now_ns),) if request.submitted_ns else ()


def _alike(requests: Sequence[HotRequest]) -> Sequence[Sequence[HotRequest]]:
    """Return the requests in groups that are counted together: most requests of one read are one group."""
    return [list(group) for _, group in groupby(requests, _KIND)]
