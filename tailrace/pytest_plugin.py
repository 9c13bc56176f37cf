"""The pytest plugin: the fixtures `tailrace` and `async_tailrace`.

It loads the server when a test first uses one of them. Both are ordinary fixtures, so they work with each
plugin that runs tests with asyncio, and without one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tailrace.testing import AsyncTestServer, TestServer


@pytest.fixture
def tailrace() -> Iterator[TestServer]:
    """A Tailrace server without data: `tailrace.url`, `tailrace.client()`, `tailrace.clock.advance(ms)`."""
    from tailrace.testing import server  # noqa: PLC0415 - pytest loads this file in every run

    with server() as running:
        yield running


@pytest.fixture
def async_tailrace(tailrace: TestServer) -> AsyncTestServer:
    """The server of `tailrace` for tests with asyncio: its methods are coroutines."""
    from tailrace.testing import AsyncTestServer  # noqa: PLC0415 - as above

    return AsyncTestServer(tailrace)
