"""The tests of `tests/contract/test_tail.py` against gateways."""

from tests.contract.test_tail import *  # noqa: F403
