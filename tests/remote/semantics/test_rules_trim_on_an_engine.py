"""The tests of `tests/rules/test_rules_trim.py` against a gateway."""

from tests.rules.test_rules_trim import *  # noqa: F403
