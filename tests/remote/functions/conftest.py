"""One server of each engine with the function library for the whole session."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.differential.harness import Comparison
from tests.remote.functions.emulated import EmulatedBy70, EmulatedBy810, EmulatedByValkey
from tests.remote.functions.engines import FunctionEngine
from tests.support.redis_node import RedisNode
from tests.support.redis_server import find_redis_8_10, find_redis_server, find_valkey, required


@dataclass(frozen=True)
class Version:
    """One engine, and what may differ behind the library."""

    name: str
    executable: str | None
    comparison: type[Comparison]


VERSIONS: Final = (
    Version("7.0.15", find_redis_server(), EmulatedBy70),
    Version("8.10.2", find_redis_8_10(), EmulatedBy810),
    Version("valkey-9.1.2", find_valkey(), EmulatedByValkey),
)


@dataclass(frozen=True)
class Behind:
    """A running engine behind the library."""

    version: Version
    engine: FunctionEngine


def executable_of(version: Version) -> str:
    """Skips the test where this engine is missing; in CI that is a failure."""
    if version.executable is not None:
        return version.executable
    missing = f"{version.name} is missing (make setup)"
    if required():
        pytest.fail(missing)
    pytest.skip(missing)


@pytest.fixture(scope="session", params=VERSIONS, ids=[version.name for version in VERSIONS])
def behind(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Behind]:
    """Skips where this engine is missing; in CI that is a failure."""
    version: Version = request.param
    engine = FunctionEngine(executable_of(version), tmp_path_factory.mktemp("engine"))
    try:
        yield Behind(version, engine)
    finally:
        engine.close()


@pytest.fixture
def engine(behind: Behind) -> FunctionEngine:
    """The engine without keys."""
    behind.engine.command("FLUSHALL")
    return behind.engine


@pytest.fixture(scope="session", params=VERSIONS, ids=[version.name for version in VERSIONS])
def node(request: pytest.FixtureRequest) -> Iterator[tuple[Version, RedisNode]]:
    """A server with a port, for tests with a link. Each test empties it before it ends."""
    version: Version = request.param
    with tempfile.TemporaryDirectory(prefix="tr-") as directory:
        node = RedisNode(executable_of(version), Path(directory))
        node.start()
        try:
            yield version, node
        finally:
            node.stop()
