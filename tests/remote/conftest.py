"""The engines of these tests: one server and one cluster of each version, started once. Each test uses its
own keys."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.redis_cluster import HASTY_MS, RedisCluster
from tests.support.redis_node import RedisNode
from tests.support.redis_server import find_redis_8_10, find_redis_server, find_valkey, required

FINDERS = {"7.0.15": find_redis_server, "8.10.2": find_redis_8_10, "valkey-9.1.2": find_valkey}


@pytest.hookimpl(tryfirst=True)  # before `-m` deselects tests
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the newest engine alone and the oldest one as a Cluster; the tests of all others are long."""
    for item in items:
        if not isinstance(item, pytest.Function) or not hasattr(item, "callspec"):
            continue
        parameters = item.callspec.params
        if "executable" not in parameters:
            continue
        clusters = {"cluster", "hasty_cluster"}.intersection(item.fixturenames)
        is_cluster = bool(clusters) or parameters.get("store_url") == "cluster"
        if parameters["executable"] != ("7.0.15" if is_cluster else "8.10.2"):
            item.add_marker(pytest.mark.long)


@pytest.fixture(scope="session", params=list(FINDERS))
def executable(request: pytest.FixtureRequest) -> str:
    found = FINDERS[request.param]()
    if found is None and not required():
        pytest.skip(f"no server {request.param}")
    assert found is not None
    return found


@pytest.fixture(scope="session")
def engine(executable: str) -> Iterator[RedisNode]:
    with tempfile.TemporaryDirectory(prefix="tr-") as directory:
        node = RedisNode(executable, Path(directory))
        node.start()
        yield node
        node.stop()


@pytest.fixture(scope="session")
def cluster(executable: str) -> Iterator[RedisCluster]:
    with RedisCluster(executable) as cluster:
        yield cluster


@pytest.fixture(scope="session", params=["alone", "cluster"])
def store_url(request: pytest.FixtureRequest, executable: str) -> str:
    """The URL for `--store` of the server, and of the cluster."""
    del executable  # only so that there is a store of each version
    if request.param == "cluster":
        cluster: RedisCluster = request.getfixturevalue("cluster")
        return f"redis+cluster://127.0.0.1:{cluster.nodes[0].port}"
    node: RedisNode = request.getfixturevalue("engine")
    return f"redis://127.0.0.1:{node.port}"


@pytest.fixture(scope="session")
def hasty_cluster(executable: str) -> Iterator[RedisCluster]:
    """A cluster that replaces a silent master after three seconds."""
    with RedisCluster(executable, node_timeout_ms=HASTY_MS) as cluster:
        yield cluster


@pytest.fixture
def own_engine(executable: str) -> Iterator[RedisNode]:
    """A server that the test may kill."""
    with tempfile.TemporaryDirectory(prefix="tr-") as directory:
        node = RedisNode(executable, Path(directory))
        node.start()
        yield node
        node.stop()
