"""A server whose disk takes a random time for each commit, as a program that starts it.

Owns the text of the program. Only the caller starts it (`server_process`).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

COMMIT_S: Final = (0.0, 0.001, 0.004)
"""The times that a commit takes in addition to its own."""

_PROGRAM: Final = """#!{python}
import random
import time

from tailrace.core.storage import journal

chance = random.Random({seed})
commit = journal.append


def slow(connection, seq, body):
    commit(connection, seq, body)
    time.sleep(chance.choice({times}))


journal.append = slow

from tailrace.app.cli import main

main()
"""


def slow_disk_program(directory: Path, seed: int) -> Path:
    """Write the program to `directory`, and return its path."""
    program = directory / "serve_with_a_slow_disk"
    program.write_text(_PROGRAM.format(python=sys.executable, seed=seed, times=COMMIT_S))
    program.chmod(0o755)
    return program
