"""Tests of rules, texts and documents, against a gateway in front of one Redis 8.10.2 instead of the embedded
store.

Each module here imports the tests of its namesake. They run on one engine, because the other ones answer the
contract tests alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract import test_documents_problems, test_problem_words
from tests.remote.semantics.client import GatewayR
from tests.remote.semantics.left_out import (
    DIFFERENT,
    NEEDS_THE_CLOCK,
    NEEDS_THE_ENGINE,
    PREPARED_INSIDE,
    REFUSED,
)
from tests.support.engines import engine, executable_of
from tests.support.gateway_client import GatewayClient
from tests.support.redis_server import required
from tests.support.seeds import is_due
from tests.support.server_process import running_server

STORE = "redis-8.10.2"
OF_TEXTS = {"test_documents_problems_on_an_engine.py", "test_problem_words_on_an_engine.py"}
"""Tests of texts, of which a third runs on a day: gateways and servers share the code that writes them."""


@pytest.fixture(scope="session")
def base_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A gateway in front of an engine that each test empties."""
    if executable_of(STORE) is None and not required():
        pytest.skip(f"{STORE} is not installed")
    with (
        engine(STORE) as url,
        running_server(tmp_path_factory.mktemp("gateway"), "--store", url) as process,
    ):
        yield process.base_url


@pytest.fixture
def r(base_url: str) -> GatewayR:
    return GatewayR(base_url)


@pytest.fixture(autouse=True)
def api_of_the_gateway(base_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the tests of texts and documents send their requests to the gateway."""
    monkeypatch.setattr(GatewayClient, "base_url", base_url, raising=False)
    for module in (test_problem_words, test_documents_problems):
        monkeypatch.setattr(module, "ApiClient", GatewayClient)
    possible = {
        name: [code for code in codes if not is_left_out(f"{name}-{code}")]
        for name, codes in test_documents_problems.CODES.items()
    }
    monkeypatch.setattr(test_documents_problems, "CODES", possible)


def is_left_out(parameters: str) -> bool:
    """Return whether a gateway cannot be given the test with these parameters."""
    return bool(PREPARED_INSIDE.search(parameters) or REFUSED.match(parameters))


@pytest.hookimpl(tryfirst=True)  # before `-m` deselects tests
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out tests that a gateway cannot be given, and expect the failures that are known differences."""
    here = Path(__file__).parent
    number = 0
    for item in list(items):
        if item.path.parent != here:
            continue
        name, _, parameters = item.name.partition("[")
        if name in NEEDS_THE_ENGINE | NEEDS_THE_CLOCK or is_left_out(parameters):
            items.remove(item)
        if name in DIFFERENT:
            item.add_marker(pytest.mark.xfail(reason=DIFFERENT[name], strict=True))
        if item.path.name in OF_TEXTS:
            number += 1
            if not is_due(number, 3):
                item.add_marker(pytest.mark.long)
