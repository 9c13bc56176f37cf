"""The pytest plugin: the fixture `tailrace`. It loads the server when a test first uses the fixture."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tailrace.testing import TestServer


@pytest.fixture
def tailrace() -> Iterator[TestServer]:
    """A Tailrace server without data: `tailrace.url`, `tailrace.client()`, `tailrace.clock.advance(ms)`."""
    from tailrace.testing import server  # noqa: PLC0415 - pytest loads this file in every run

    with server() as running:
        yield running
