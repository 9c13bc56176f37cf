"""The fixture of all tests of the rules: one engine with a fixed clock."""

from __future__ import annotations

import pytest

from tests.support.redis_like import R


@pytest.fixture
def r() -> R:
    """A fresh engine."""
    return R()
