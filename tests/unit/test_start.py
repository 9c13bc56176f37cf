"""What a server does before it is ready, and what it leaves to the first request that needs it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from tailrace.api.access.rates import UNRATED
from tailrace.api.access.security import UNSECURED
from tailrace.api.http.deferred_route import DeferredRoute
from tailrace.api.server_limits import DEFAULT_LIMITS, OpenLimits
from tailrace.api.websocket import endpoint
from tailrace.api.websocket.route import DeferredEndpoint
from tailrace.app.store.service import EngineStore
from tailrace.core.engine import Engine

LATER = (
    "lark",
    "prometheus_client",
    "prompt_toolkit",
    "pydantic.v1",
    "redis",
    "rich",
    "tailrace.api.document.asyncapi",
    "tailrace.api.websocket.endpoint",
    "tailrace.app.remote",
)

STARTING = """
import json, sys
import tailrace.app.cli.serve
from tailrace.api.access.security import Security, unaudited
from tailrace.api.http.deferred_route import DeferredRoute
from tailrace.app.cli.stores import sources_of
from tailrace.app.main import create_app
from tailrace.app.protocols.connections import Connections
from tailrace.app.settings import Settings
from tailrace.app.token_buckets import TokenBuckets
from tailrace.app.tokens.authenticator import FileAuthenticator
from tailrace.api.routes import ROUTERS

settings = Settings(durability="none")
tokens = FileAuthenticator(settings.tokens_path, unaudited)
sources = sources_of(settings, Connections(settings, refused_max=1))
create_app(sources, settings, TokenBuckets(settings), tokens, Security(tokens))
routes = [route for router in ROUTERS for route in router.routes]
assert all(isinstance(route, DeferredRoute) for route in routes)
prepared = [route.path for route in routes if "app" in vars(route)]
print(json.dumps({"modules": [*sys.modules], "prepared": prepared}))
"""


def test_the_start_leaves_to_requests_what_may_never_be_used(tmp_path: Path) -> None:
    program = [sys.executable, "-c", STARTING]
    found = json.loads(subprocess.run(program, capture_output=True, check=True, cwd=tmp_path).stdout)
    assert set(found["modules"]) & set(LATER) == set()
    assert found["prepared"] == []


async def answer() -> Response:
    return Response()


def test_a_route_is_prepared_when_it_is_first_used() -> None:
    route = DeferredRoute("/a/{key}", answer, operation_id="answer", methods=["GET"], name="named")
    assert route.path_regex.match("/a/b")
    assert "dependant" not in vars(route)
    assert (route.name, route.dependant.call) == ("named", answer)
    assert "app" in vars(route)


def test_a_prepared_route_has_no_other_attributes_than_one_of_fastapi() -> None:
    route = DeferredRoute("/a", answer, operation_id="answer", methods=["GET"])
    with pytest.raises(AttributeError, match="colour"):
        _ = route.colour


def test_connections_that_arrive_together_share_one_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    created = []

    class Endpoint:
        def __init__(self, *_arguments: object) -> None:
            created.append(self)
            self.served = 0

        async def __call__(self, _scope: Scope, _receive: Receive, _send: Send) -> None:
            self.served += 1

    monkeypatch.setattr(endpoint, "WebSocketEndpoint", Endpoint)
    limits = OpenLimits(DEFAULT_LIMITS)
    deferred = DeferredEndpoint(EngineStore(Engine()), "1", limits, UNRATED, UNSECURED)

    async def connect_three_times() -> None:
        await asyncio.gather(*(deferred({}, receive, send) for _ in range(3)))

    asyncio.run(connect_three_times())
    assert [each.served for each in created] == [3]


async def receive() -> Message:
    raise AssertionError("the endpoint of this test reads nothing")


async def send(_message: Message) -> None:
    raise AssertionError("the endpoint of this test sends nothing")
