"""Servers that the tests of this folder share. Each test uses keys of its own, and selects them with
--keys."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.migrate.places import End, cluster_end, redis_end, tailrace_end
from tests.support.redis_cluster import RedisCluster
from tests.support.redis_server import RedisServer, find_redis_8_10, find_redis_server, find_valkey, required


def _executable(found: str | None, what: str) -> str:
    if found is None:
        if required():
            pytest.fail(f"{what} is missing: run make setup")
        pytest.skip(f"{what} is missing")
    return found


@pytest.fixture(scope="session")
def redis_7(tmp_path_factory: pytest.TempPathFactory) -> Iterator[End]:
    """Debian's Redis."""
    executable = _executable(find_redis_server(), "redis-server")
    with RedisServer(executable, tmp_path_factory.mktemp("redis7")) as server:
        yield redis_end(server)


@pytest.fixture(scope="session")
def redis_8(tmp_path_factory: pytest.TempPathFactory) -> Iterator[End]:
    executable = _executable(find_redis_8_10(), "Redis 8.10.2")
    with RedisServer(executable, tmp_path_factory.mktemp("redis8")) as server:
        yield redis_end(server)


@pytest.fixture(scope="session")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[End]:
    executable = _executable(find_valkey(), "Valkey 9.1.2")
    with RedisServer(executable, tmp_path_factory.mktemp("valkey")) as server:
        yield redis_end(server)


@pytest.fixture(scope="session")
def valkey_cluster() -> Iterator[End]:
    """Three masters of Valkey 9.1.2 without replicas."""
    with RedisCluster(_executable(find_valkey(), "Valkey 9.1.2"), masters=3, replicas=0) as cluster:
        yield cluster_end(cluster, scheme="valkey")


@pytest.fixture(scope="session")
def another_redis_8(tmp_path_factory: pytest.TempPathFactory) -> Iterator[End]:
    executable = _executable(find_redis_8_10(), "Redis 8.10.2")
    with RedisServer(executable, tmp_path_factory.mktemp("redis8b")) as server:
        yield redis_end(server)


@pytest.fixture(scope="session")
def cluster() -> Iterator[RedisCluster]:
    """Three masters of Redis 8.10.2 without replicas."""
    with RedisCluster(_executable(find_redis_8_10(), "Redis 8.10.2"), masters=3, replicas=0) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def in_cluster(cluster: RedisCluster) -> End:
    return cluster_end(cluster)


@pytest.fixture(scope="session")
def tailrace(base_url: str) -> End:
    return tailrace_end(base_url)
