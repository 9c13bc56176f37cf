"""`docs/gateway.md` has the tables that the engines and the contract tests give."""

from __future__ import annotations

import pytest

from tests.support.engines import executable_of
from tests.support.gateway_tables import ENGINES, PAGE, with_tables
from tests.support.redis_server import required


def test_the_page_shows_what_each_engine_has_and_what_differs() -> None:
    missing = [store for store in ENGINES if executable_of(store) is None]
    if missing and not required():
        pytest.skip(f"{', '.join(missing)}: not installed")
    page = PAGE.read_text()
    assert page == with_tables(page), "run `python -m tests.support.gateway_tables`"
