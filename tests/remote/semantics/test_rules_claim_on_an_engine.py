"""The tests of `tests/rules/test_rules_claim.py` against a gateway."""

from tests.rules.test_rules_claim import *  # noqa: F403
