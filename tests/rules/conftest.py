"""What every rule is tested on: one engine under a clock that stands still."""

from __future__ import annotations

import pytest

from tests.support.redis_like import R


@pytest.fixture
def r() -> R:
    """A fresh engine."""
    return R()
