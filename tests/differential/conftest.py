"""One `redis-server` for the whole session, missing only where that is allowed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest

from tests.support.redis_server import RedisServer, find_redis_server, required

MISSING: Final = "redis-server is not installed (Debian: apt-get install redis-server)"


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """Skips where there is no `redis-server`; in CI that is a failure."""
    executable = find_redis_server()
    if executable is None:
        if required():
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    with RedisServer(executable, tmp_path_factory.mktemp("redis")) as server:
        yield server
