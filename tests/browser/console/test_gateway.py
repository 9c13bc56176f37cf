"""The Server view behind a gateway: it shows the nodes of the engine instead of an embedded store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.console import Console
from tests.support.engines import RedisOnPort, executable_of
from tests.support.redis_server import required
from tests.support.server_process import running_server


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisOnPort]:
    executable = executable_of("redis-8.10.2")
    if executable is None and not required():
        pytest.skip("Redis 8.10.2 is not built")
    assert executable is not None
    with RedisOnPort(executable) as server:
        yield server


def test_the_server_view_names_the_nodes_and_their_state(
    console: Console, redis: RedisOnPort, tmp_path: Path
) -> None:
    with running_server(tmp_path, "--store", redis.url) as server:
        gateway = Console(console.page, server.base_url)
        gateway.open("server")
        gateway.until_text("Nodes up")
        node = "document.querySelector('[aria-label=Nodes] tbody tr').innerText.split(/\\s+/).join(' ')"
        assert gateway.page.evaluate(node) == f"127.0.0.1:{redis.port} master up"
        gateway.until_text("Redis or Valkey")
        assert "NaN" not in gateway.text()
        assert "embedded" not in gateway.text()
        assert console.page.complaints == []
        assert gateway.violations() == []
