"""The tests of `tests/contract/test_dead_letters.py` against each engine."""

from tests.contract.test_dead_letters import *  # noqa: F403, I001

from tests.remote.contract.addresses import key, server  # noqa: F401 - those of a gateway
