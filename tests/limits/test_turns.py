"""No request of an allowed size keeps the event loop busy for long: the calls between two turns are counted.

The largest request of each operation is sent to the surface over the real engine. Work is counted in calls of
functions, those in C included. Work in C that grows with bytes alone is not seen here; `make bench-largest`
measures it. `make test` takes a tenth of the requests, others every day.
"""

from __future__ import annotations

import asyncio
import os
import sys
from types import FrameType
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import pytest

from bench.largest_cases import CASES, CHEAP
from bench.largest_streams import Case, Request, State
from tailrace.api.application import create_api
from tailrace.app.metrics.census import CensusReuse
from tailrace.app.metrics.route import DeferredMetrics
from tailrace.app.metrics.sources import Sources
from tailrace.app.store.service import EngineStore
from tailrace.core.engine import Engine
from tests.support.api_client import the_document
from tests.support.seeds import some_each_day

WORK_OF: Final = {"call": 3, "c_call": 1}
"""A call of a function in Python costs about three times as much as one in C."""

WORK_PER_TURN_MAX: Final = 2_500_000
"""About 0.1 s: a unit takes 0.025 to 0.05 us."""

SCALE: Final = float(os.environ.get("TESTS_LARGEST_SCALE", "1"))

TAILS: Final = frozenset({"tail", "tail_streams"})
"""They send a page at a time, as the reads do."""


class CountingLoop(asyncio.SelectorEventLoop):
    """An event loop that counts the work of each of its turns. `most`: the work of the longest one."""

    def __init__(self) -> None:
        super().__init__()
        self.most = 0
        self._work = 0

    def _run_once(self) -> None:
        self._work = 0
        super()._run_once()  # type: ignore[misc] # the step of every event loop, which no stub names
        self.most = max(self.most, self._work)

    def count(self, _frame: FrameType, event: str, _argument: Any) -> None:
        """Take note of a call."""
        self._work += WORK_OF.get(event, 0)


async def answer(app: Any, request: Request) -> int:
    """The status of one request; the body of the answer is dropped."""
    parts = urlsplit(request.path)
    headers = [(name.encode(), value.encode()) for name, value in request.headers.items()]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": unquote(parts.path),
        "raw_path": parts.path.encode(),
        "query_string": parts.query.encode(),
        "headers": [(b"host", b"localhost"), (b"content-length", b"%d" % len(request.body or b"")), *headers],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        "state": {},
    }
    unsent = [{"type": "http.request", "body": request.body or b"", "more_body": False}]
    status = 0

    async def receive() -> dict[str, Any]:
        if not unsent:
            await asyncio.get_running_loop().create_future()
        return unsent.pop()

    async def send(message: dict[str, Any]) -> None:
        nonlocal status
        status = message.get("status", status)

    await app(scope, receive, send)
    return status


@pytest.fixture(scope="module")
def app() -> Any:
    store = EngineStore(Engine())
    api = create_api(store, version="1")
    metrics = DeferredMetrics(Sources(store), 100, CensusReuse())
    api.add_route("/metrics", metrics.metrics, methods=["GET"])
    return api


@pytest.fixture(scope="module")
def state() -> State:
    return State(SCALE)


@pytest.mark.parametrize("case", some_each_day(CASES, 40), ids=lambda case: case.name)
def test_a_request_lets_others_have_their_turn(app: Any, state: State, case: Case) -> None:
    loop = CountingLoop()
    try:
        for request in case.prepare(state):
            assert loop.run_until_complete(answer(app, request)) < 400
        loop.most = 0
        requests = list(case.requests(state))
        sys.setprofile(loop.count)
        try:
            statuses = [loop.run_until_complete(answer(app, request)) for request in requests]
        finally:
            sys.setprofile(None)
    finally:
        loop.close()
    assert all(0 < status < (500 if case.is_refused else 400) for status in statuses), statuses[:3]
    assert loop.most <= WORK_PER_TURN_MAX


def test_every_operation_has_its_largest_request() -> None:
    assert set(the_document().operations) - CHEAP - TAILS <= {case.operation for case in CASES}
