"""The tests of `tests/unit/test_api_groups.py` against gateways."""

from tests.unit.test_api_groups import *  # noqa: F403, I001

from tests.remote.contract.gateway_api import api  # noqa: F401 - instead of the imported one
