"""Python programs in Markdown: the blocks of a page, run as one program against a server.

It owns how blocks become a program; which page has some is its test's business. A block fenced as `python` is
run after the ones before it. Where one fenced as `text` follows, it prints exactly that; where none does,
what it prints is not looked at. `localhost:8080` and `127.0.0.1:8080` stand for the server.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from typing import Final, NamedTuple

_BLOCK: Final = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
_ADDRESS: Final = re.compile(r"(?:localhost|127\.0\.0\.1):8080")
_MARK: Final = "-- end of a block --\n"
_WITHIN_S: Final = 120


class Block(NamedTuple):
    """One block, and what it must print, or an empty text."""

    code: str
    expected: str


def blocks_of(markdown: str) -> list[Block]:
    """All Python blocks of a page, in order."""
    return [Block(*found) for found in _BLOCK.findall(markdown)]


def check_programs(markdown: str, base_url: str, replaced: Mapping[str, str] | None = None) -> None:
    """Run all blocks in order: each must succeed and print what stands behind it.

    `replaced`: text of the page that stands for something else here, as the address of another server does.
    """
    blocks = blocks_of(markdown)
    program = "".join(f"{block.code}\nprint({_MARK!r}, end='')\n" for block in blocks)
    for text, other in (replaced or {}).items():
        program = program.replace(text, other)
    printed = run_program(_ADDRESS.sub(base_url.removeprefix("http://"), program)).split(_MARK)
    for block, said in zip(blocks, printed[:-1], strict=True):
        assert block.expected in ("", said), f"{block.code}\nprinted\n{said}"


def run_program(program: str) -> str:
    """What a program printed, which must succeed."""
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=_WITHIN_S, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout
