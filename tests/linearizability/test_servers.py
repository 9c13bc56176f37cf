"""Concurrent clients see one order of events: on the server's own store, and through two gateways at once.

`LINEARIZABLE_OPERATIONS` makes the history longer (`make linearizability`), `LINEARIZABLE_SEED` chooses it.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest

from tests.linearizability.clients import recorded
from tests.linearizability.history import violations
from tests.support.engines import RedisOnPort, executable_of
from tests.support.redis_server import required
from tests.support.server_process import running_server

OPERATIONS: Final = int(os.environ.get("LINEARIZABLE_OPERATIONS", "2000"))
SEED: Final = int(os.environ.get("LINEARIZABLE_SEED", random.SystemRandom().randrange(1 << 32)))


@pytest.fixture(params=["none", "always"])
def server_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    with running_server(tmp_path, "--durability", request.param, "--log-level", "warning") as server:
        yield server.base_url


@pytest.fixture
def gateway_urls(tmp_path: Path) -> Iterator[list[str]]:
    executable = executable_of("redis-8.10.2")
    if executable is None and not required():
        pytest.skip("Redis 8.10.2 is not built")
    assert executable is not None
    with ExitStack() as stack:
        engine = stack.enter_context(RedisOnPort(executable))
        gateways = []
        for name in ("one", "other"):
            (tmp_path / name).mkdir()
            gateways.append(stack.enter_context(running_server(tmp_path / name, "--store", engine.url)))
        yield [gateway.base_url for gateway in gateways]


def check(urls: list[str]) -> None:
    sys.stdout.write(f"LINEARIZABLE_SEED={SEED}\n")
    history = asyncio.run(recorded(urls, "race:france", OPERATIONS, SEED))
    assert len(history) > OPERATIONS * 0.9
    assert all((history.appends, history.newest, history.group_reads, history.acknowledged, history.pending))
    assert any(done.count == 0 for done in history.acknowledged), "no two clients met at one entry"
    assert list(violations(history)) == []


def test_a_server_does_every_operation_at_one_instant(server_url: str) -> None:
    check([server_url])


def test_two_gateways_of_one_engine_do_every_operation_at_one_instant(gateway_urls: list[str]) -> None:
    check(gateway_urls)
