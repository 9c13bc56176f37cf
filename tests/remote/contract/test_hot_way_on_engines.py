"""The tests of `tests/contract/test_hot_way.py` against gateways."""

from tests.contract.test_hot_way import *  # noqa: F403
