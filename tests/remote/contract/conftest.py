"""The contract tests of `tests/contract`, against a gateway in front of each engine instead of the embedded
store.

Each module here imports the tests of its namesake; `server` and `base_url` are then those of a gateway.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.remote.contract.differences import (
    DIFFERENCES,
    NEEDS_THE_DOUBLE,
    OWN_SERVER,
    TIMED,
    WITHOUT_THE_STORE,
)
from tests.support.engines import STORE_PARAMS, engine, executable_of
from tests.support.redis_server import required
from tests.support.server_process import ServerProcess, running_server

ONE_STORE = "redis-8.10.2"


@pytest.fixture(scope="session", params=STORE_PARAMS)
def store(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if executable_of(name) is None and not required():
        pytest.skip(f"{name} is not installed")
    return name


@pytest.fixture(scope="session")
def engine_url(store: str) -> Iterator[str]:
    with engine(store) as url:
        yield url


@pytest.fixture(scope="session")
def gateway(engine_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """The gateway in front of the engine. Each test uses keys that no other test uses."""
    with running_server(tmp_path_factory.mktemp("gateway"), "--store", engine_url) as process:
        yield process


@pytest.fixture(scope="session")
def server(gateway: ServerProcess) -> ServerProcess:
    return gateway


@pytest.fixture(scope="session")
def base_url(gateway: ServerProcess) -> str:
    return gateway.base_url


@pytest.hookimpl(tryfirst=True)  # before `-m` deselects tests
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out tests that start a server of their own, and expect the failures that are known
    differences. Tests that ask no store are long with all stores but one."""
    here = Path(__file__).parent
    for item in list(items):
        if item.path.parent != here:
            continue
        name = item.name.partition("[")[0]
        if name in OWN_SERVER | NEEDS_THE_DOUBLE | TIMED:
            items.remove(item)
        if name in WITHOUT_THE_STORE and ONE_STORE not in item.name:
            item.add_marker(pytest.mark.long)
        for difference in DIFFERENCES:
            if difference.concerns(item.name):
                item.add_marker(pytest.mark.xfail(reason=difference.reason, strict=True))
