"""The fixture `api` of the tests of the API, as a client of a gateway. Import it after the tests."""

from __future__ import annotations

import pytest

from tests.support.gateway_client import GatewayClient


@pytest.fixture
def api(base_url: str) -> GatewayClient:
    GatewayClient.base_url = base_url
    return GatewayClient.with_race()
