"""The tests of `tests/contract/test_waiting.py` against gateways."""

from tests.contract.test_waiting import *  # noqa: F403
