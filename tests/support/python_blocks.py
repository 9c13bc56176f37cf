"""Python programs in Markdown: runs the blocks of a page as one program against a server.

Owns how blocks form a program; a test chooses the pages. A block fenced as `python` runs after the blocks
before it. If a block fenced as `text` follows, the program must print exactly that text; otherwise its output
is ignored. `localhost:8080` and `127.0.0.1:8080` are replaced by the address of the server.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

_BLOCK: Final = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
_ADDRESS: Final = re.compile(r"(?:localhost|127\.0\.0\.1):8080")
_MARK: Final = "-- end of a block --\n"
_WITHIN_S: Final = 120


class Block(NamedTuple):
    """One block, and its expected output or an empty text."""

    code: str
    expected: str


def blocks_of(markdown: str) -> list[Block]:
    """Return all Python blocks of a page, in order."""
    return [Block(*found) for found in _BLOCK.findall(markdown)]


def check_programs(
    markdown: str,
    base_url: str,
    replaced: Mapping[str, str] | None = None,
    directory: Path | None = None,
) -> None:
    """Run all blocks in order: each must succeed and print the text that follows it.

    `replaced`: further texts of the page and their replacements, such as the address of another server.
    `directory`: where the program runs; None: here.
    """
    blocks = blocks_of(markdown)
    program = "".join(f"{block.code}\nprint({_MARK!r}, end='')\n" for block in blocks)
    for text, other in (replaced or {}).items():
        program = program.replace(text, other)
    printed = run_program(_ADDRESS.sub(base_url.removeprefix("http://"), program), directory).split(_MARK)
    for block, said in zip(blocks, printed[:-1], strict=True):
        assert block.expected in ("", said), f"{block.code}\nprinted\n{said}"


def run_program(program: str, directory: Path | None = None) -> str:
    """Return the output of a program, which must succeed."""
    result = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=_WITHIN_S,
        check=False,
        cwd=directory,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout
