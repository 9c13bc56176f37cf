"""The tests of `tests/contract/test_websocket.py` against gateways."""

from collections.abc import Iterator

import pytest

from tests.contract.test_websocket import *  # noqa: F403
from tests.support.live_gateway import LiveGateway, live_gateway


@pytest.fixture(scope="module")  # type: ignore[no-redef] # instead of the imported one
def server(engine_url: str) -> Iterator[LiveGateway]:
    with live_gateway(engine_url) as running:
        yield running
