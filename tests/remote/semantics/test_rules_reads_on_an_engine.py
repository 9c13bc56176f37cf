"""The tests of `tests/rules/test_rules_reads.py` against a gateway."""

from tests.rules.test_rules_reads import *  # noqa: F403
