"""The server applies every limit that it defines; `GET /v1/limits` shows them."""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path
from typing import Final

from tailrace.core import limits

ROOT: Final = Path(__file__).parents[2]
DEFINED_OR_SHOWN: Final = {ROOT / "core/limits.py", ROOT / "api/schemas/limits.py"}


def test_the_code_uses_every_limit_that_it_defines() -> None:
    sources = chain.from_iterable((ROOT / layer).rglob("*.py") for layer in ("core", "api", "app"))
    texts = [path.read_text() for path in sources if path not in DEFINED_OR_SHOWN]
    used = set(chain.from_iterable(re.findall(r"[A-Z_]+", text) for text in texts))
    defined = {name for name in vars(limits) if name.isupper()}
    assert defined - used == set()
