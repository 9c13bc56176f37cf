"""Which tokens see the names of keys in `/metrics`."""

from __future__ import annotations

import asyncio

import pytest
from starlette.requests import Request

from tailrace.api.application import create_api
from tailrace.api.principals import ANONYMOUS_LOCAL, Principal
from tailrace.app.metrics.census import CensusReuse
from tailrace.app.metrics.endpoint import MetricsEndpoint
from tailrace.app.metrics.sources import Sources
from tailrace.app.store.service import EngineStore
from tailrace.core.commands import CreateGroup
from tailrace.core.engine import Engine

NOBODY_S = 'tailrace_group_lag_entries{group="other",key=""} 0.0'
NAMED = 'tailrace_group_lag_entries{group="crew",key="race:france"} 0.0'


def scrape(principal: Principal, groups_max: int = 100) -> str:
    engine = Engine()
    engine.execute(CreateGroup(b"race:france", b"crew", 0, create_stream=True), 1)
    endpoint = MetricsEndpoint(Sources(EngineStore(engine)), groups_max, CensusReuse())
    app = create_api(EngineStore(engine))
    request = Request({"type": "http", "app": app, "headers": [], "state": {"principal": principal}})
    body = asyncio.run(endpoint.metrics(request)).body
    return bytes(body).decode()


def test_who_may_see_all_keys_is_told_the_names_of_groups() -> None:
    shown = scrape(ANONYMOUS_LOCAL).splitlines()
    assert NAMED in shown
    assert NOBODY_S not in shown


@pytest.mark.parametrize("pattern", [b"race:*", b"race:france", b"other:*"])
def test_who_may_see_some_keys_is_told_of_all_groups_as_one(pattern: bytes) -> None:
    token = Principal("t", "scraper", frozenset({"read"}), (pattern,))
    text = scrape(token)
    assert NOBODY_S in text.splitlines()
    assert "race:france" not in text
    assert "tailrace_groups 1.0" in text.splitlines()
