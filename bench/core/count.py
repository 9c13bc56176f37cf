"""Runs each case so that callgrind can count its instructions: see `bench.core.compare --instructions`.

At each call of `sched_yield`, callgrind writes its counts. Between two such calls the program makes only the
`CALLS` calls of one case. It prints the names of the cases in the same order.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import Final

from bench.core.cases import CASES

WARM_UP_CALLS: Final = 20
CALLS: Final = 50
"""How many calls an interpreter with specializing bytecode needs to give repeatable counts."""


def main() -> None:
    """Run all cases, or the named ones."""
    names = sys.argv[1:] or list(CASES)
    gc.disable()
    for name in names:
        call = CASES[name]()
        for _ in range(WARM_UP_CALLS):
            call()
        os.sched_yield()
        for _ in range(CALLS):
            call()
        os.sched_yield()
    print(*names, sep="\n")


if __name__ == "__main__":
    main()
