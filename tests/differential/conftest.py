"""One server of each version of Redis for the whole session. A missing version is skipped only where this is
allowed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.differential.versions import VERSIONS, Peer, Version
from tests.support.redis_server import RedisServer, required


@pytest.fixture(scope="session", params=VERSIONS, ids=[version.name for version in VERSIONS])
def peer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    """Skips where this version of Redis is missing; in CI that is a failure."""
    version: Version = request.param
    if version.executable is None:
        if required():
            pytest.fail(version.missing)
        pytest.skip(version.missing)
    with RedisServer(version.executable, tmp_path_factory.mktemp("redis")) as server:
        yield Peer(version, server)
