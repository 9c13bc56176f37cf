"""What tests of the TypeScript SDK share: its package, which one test process at a time uses."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.typescript import package_alone


@pytest.fixture(scope="module")
def typescript_package() -> Iterator[None]:
    """Its tests compile it in place, so a module has it alone."""
    with package_alone():
        yield
