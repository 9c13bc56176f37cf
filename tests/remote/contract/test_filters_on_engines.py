"""The tests of `tests/contract/test_filters.py` against each engine."""

from tests.contract.test_filters import *  # noqa: F403
