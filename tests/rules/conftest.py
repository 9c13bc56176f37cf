"""The fixture of all rules' tests: one engine under a fixed clock."""

from __future__ import annotations

import pytest

from tests.support.redis_like import R


@pytest.fixture
def r() -> R:
    """A fresh engine."""
    return R()
