"""What is noted of a request on the hot routes: the same as `app.observed` notes of the others, without a
task, a scope or an object of its own. Its cost is part of each request's: about 0.5 us where nothing is
slow, logged or traced.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from tailrace.app.metrics.sources import Sources
from tailrace.app.observability.access_log import access_logger, log_request
from tailrace.core.commands import Command

if TYPE_CHECKING:
    from tailrace.app.observability.spans import Tracing


class HotTiming:
    """When what happened, in `time.perf_counter_ns`. `started_ns`: its head was there; `ready_ns`: its body
    was; `submitted_ns`: it was carried out and waits for the disk, 0 where it need not. `engine_ns`: the
    engine's part, where it waits."""

    submitted_ns = 0
    engine_ns = 0

    def __init__(self) -> None:
        self.started_ns = self.ready_ns = time.perf_counter_ns()


class HotObserver:
    """One object for all connections of a server. `tracing` None: no traces."""

    def __init__(self, sources: Sources, tracing: Tracing | None) -> None:
        self._requests = sources.requests
        self._slow_log = sources.store.slow_log
        self._commands = sources.store.figures
        self._tracing = tracing

    def submitted(self, timing: HotTiming) -> None:
        """The command was carried out, and its answer waits for the disk."""
        timing.engine_ns = self._commands.last_engine_ns
        timing.submitted_ns = time.perf_counter_ns()

    def answered(
        self, operation: str, status: int, request_id: str, path: bytes, command: Command, timing: HotTiming
    ) -> None:
        """The answer was written."""
        now_ns = time.perf_counter_ns()
        duration_ns = now_ns - timing.ready_ns
        self._requests.note(operation, status, duration_ns)
        if duration_ns >= self._slow_log.threshold_ns:
            self._look_closer(operation, request_id, command, timing, now_ns)
        if self._tracing is not None:
            self._tracing.note(operation, status, request_id, timing.started_ns)
        if access_logger.isEnabledFor(logging.INFO):
            log_request(request_id, "POST", path.decode("latin-1"), status, timing.started_ns)

    def _look_closer(
        self, operation: str, request_id: str, command: Command, timing: HotTiming, now_ns: int
    ) -> None:
        """Note it as slow, unless it was only the disk that took so long."""
        commit_ns = now_ns - timing.submitted_ns if timing.submitted_ns else 0
        own_ns = now_ns - timing.ready_ns - commit_ns
        if own_ns < self._slow_log.threshold_ns:
            return
        engine_ns = timing.engine_ns if timing.submitted_ns else self._commands.last_engine_ns
        self._slow_log.note(
            operation,
            request_id,
            (command,),
            engine_ns=engine_ns,
            commit_ns=commit_ns,
            other_ns=own_ns - engine_ns,
        )
