"""The tests of `tests/rules/test_rules_pending.py` against a gateway."""

from tests.rules.test_rules_pending import *  # noqa: F403
