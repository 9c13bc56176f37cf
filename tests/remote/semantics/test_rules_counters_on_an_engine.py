"""The tests of `tests/rules/test_rules_counters.py` against a gateway."""

from tests.rules.test_rules_counters import *  # noqa: F403
