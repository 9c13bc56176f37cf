"""The tables of `docs/gateway.md`: what each engine has, and what differs on it.

Run it as a program to write the page: `python -m tests.support.gateway_tables`. It starts each engine.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

from tailrace.app.remote.functions.capabilities import Feature
from tailrace.app.remote.opening import opened
from tailrace.app.settings import Settings
from tests.remote.contract.differences import DIFFERENCES
from tests.support.engines import engine

PAGE: Final = Path(__file__).parents[2] / "docs" / "gateway.md"
ENGINES: Final = {
    "redis-8.10.2": "Redis 8.10.2",
    "redis-7.0.15": "Redis 7.0.15",
    "valkey-9.1.2": "Valkey 9.1.2",
}


async def _features(url: str) -> list[Feature]:
    async with opened(Settings(store=url)) as (_, found):
        return found.capabilities.features()


def features_of(store: str) -> list[Feature]:
    """Return what the engine of a store has; starts the engine."""
    with engine(store) as url:
        return asyncio.run(_features(url))


def engine_table() -> str:
    """Return the table of features, a column for each engine."""
    columns = [features_of(store) for store in ENGINES]
    rows = [f"| feature | {' | '.join(ENGINES.values())} | where it is emulated |", "|---|---|---|---|"]
    for features in zip(*columns, strict=True):
        notes = [each.reason for each in features if each.support.value != "native"]
        cells = [features[0].name, *(each.support.value for each in features), notes[-1] if notes else ""]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def differences_table() -> str:
    """Return the table of the tests that fail on some stores."""
    rows = ["| test | stores | reason |", "|---|---|---|"]
    for each in DIFFERENCES:
        name = each.test.removeprefix("test_").replace("_", " ")
        rows.append(f"| {name} | {', '.join(each.stores)} | {each.reason} |")
    return "\n".join(rows)


def with_tables(page: str) -> str:
    """Return the page with the current tables."""
    for name, table in (("engine", engine_table()), ("differences", differences_table())):
        before, _, rest = page.partition(f"<!-- {name} table: begin -->\n")
        _, _, after = rest.partition(f"<!-- {name} table: end -->")
        page = f"{before}<!-- {name} table: begin -->\n{table}\n<!-- {name} table: end -->{after}"
    return page


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text()))
