"""Every numbered rule has a test that is named after it."""

from __future__ import annotations

import re
from pathlib import Path

RULES = range(1, 67)


def test_every_rule_has_a_test_of_its_number() -> None:
    sources = "".join(path.read_text() for path in Path(__file__).parent.glob("test_rules_*.py"))
    numbers = {int(number) for number in re.findall(r"^def test_rule_(\d\d)_", sources, re.MULTILINE)}
    assert numbers == set(RULES)
