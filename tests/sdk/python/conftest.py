"""Clients of the session's server, and a separate key for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tailrace_client import Stream, Tailrace
from tests.support.cutting_proxy import CuttingProxy, cutting_proxy
from tests.support.server_process import ServerProcess


@pytest.fixture
def key(request: pytest.FixtureRequest) -> str:
    """A key that no other test uses, with characters that must be encoded in paths."""
    return f"sdk:python/{request.node.name}"


@pytest.fixture
def tailrace(base_url: str) -> Iterator[Tailrace]:
    with Tailrace(base_url) as client:
        yield client


@pytest.fixture
def stream(tailrace: Tailrace, key: str) -> Stream:
    return tailrace.stream(key)


@pytest.fixture
def proxy(server: ServerProcess) -> Iterator[CuttingProxy]:
    """A way to the server that can be cut."""
    with cutting_proxy(server.port) as proxy:
        yield proxy


@pytest.fixture
def cut_tailrace(proxy: CuttingProxy) -> Iterator[Tailrace]:
    """A client whose connections can be cut."""
    with Tailrace(proxy.url) as client:
        yield client
