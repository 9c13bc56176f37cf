"""The tests of `tests/rules/test_rules_ids.py` against a gateway."""

from tests.rules.test_rules_ids import *  # noqa: F403
