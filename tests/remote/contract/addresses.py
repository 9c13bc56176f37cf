"""The fixtures `server` and `key` of the tests of settings, for a gateway. Import them after the tests."""

from __future__ import annotations

from itertools import count
from typing import NamedTuple

import pytest

from tests.support.server_process import ServerProcess

_NUMBERS = count()


class Addresses(NamedTuple):
    """Where the gateway is."""

    url: str
    websocket_url: str


@pytest.fixture
def server(gateway: ServerProcess) -> Addresses:
    return Addresses(gateway.base_url, gateway.base_url.replace("http", "ws", 1) + "/v1/ws")


@pytest.fixture
def key(request: pytest.FixtureRequest) -> str:
    """A key whose dead letters are in its slot."""
    return f"{{settings:{request.module.__name__.rpartition('.')[2]}:{next(_NUMBERS)}}}"
