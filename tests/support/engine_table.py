"""The table of what each engine can do behind a gateway, as `docs/differences.md` has it.

Made of what detection finds on the real engines. `python -m tests.support.engine_table` starts them and
writes the table. A test compares the page with it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tailrace.app.remote.functions.capabilities import Capabilities, Support
from tailrace.app.remote.functions.detection import detect
from tests.support.links import linked, run
from tests.support.redis_node import RedisNode
from tests.support.redis_server import find_redis_8_10, find_redis_server, find_valkey

PAGE: Final = Path(__file__).parents[2] / "docs" / "differences.md"
BEGIN: Final = "<!-- what each engine can do: written by python -m tests.support.engine_table -->\n"
END: Final = "<!-- end of the table of engines -->\n"

ENGINES: Final = {
    "Redis 7.0.15": find_redis_server,
    "Redis 8.10.2": find_redis_8_10,
    "Valkey 9.1.2": find_valkey,
}


def capabilities_of(executable: str) -> Capabilities:
    """Start a server, ask it, and stop it."""
    found: list[Capabilities] = []
    with tempfile.TemporaryDirectory(prefix="tr-") as directory:
        node = RedisNode(executable, Path(directory))
        node.start()

        async def main() -> None:
            async with linked(f"redis://{node.address}") as link:
                found.append(await detect(link))

        try:
            run(main)
        finally:
            node.stop()
    return found[0]


def table(engines: Mapping[str, Capabilities]) -> str:
    """Return the table as Markdown, between its marks."""
    lines = [_row("feature", *engines, "if emulated"), _row("---", *("---" for _ in engines), "---")]
    for features in zip(*(each.features() for each in engines.values()), strict=True):
        supports = [feature.support for feature in features]
        emulated = [feature.reason for feature in features if feature.support is Support.EMULATED]
        lines.append(_row(features[0].name, *supports, emulated[0] if emulated else ""))
    return f"{BEGIN}\n{''.join(lines)}\n{END}"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |\n"


def with_table(page: str, engines: Mapping[str, Capabilities]) -> str:
    """Return `page` with the current table."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + table(engines) + after


def all_engines() -> dict[str, Capabilities] | None:
    """Return what each engine can do; None if one of them is missing."""
    found = {name: find() for name, find in ENGINES.items()}
    if None in found.values():
        return None
    return {name: capabilities_of(path) for name, path in found.items() if path is not None}


if __name__ == "__main__":
    asked = all_engines()
    assert asked is not None, "an engine is missing: make setup"
    PAGE.write_text(with_table(PAGE.read_text(), asked))
