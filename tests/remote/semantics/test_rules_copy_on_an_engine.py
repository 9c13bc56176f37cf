"""The tests of `tests/rules/test_rules_copy.py` against a gateway."""

from tests.rules.test_rules_copy import *  # noqa: F403
