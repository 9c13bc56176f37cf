"""Runs each case so that callgrind can count its instructions: see `bench.core.compare --instructions`.

Between two calls of `sched_yield`, at each of which callgrind writes down what it has counted so far, stand
`CALLS` calls of one case and nothing else. Printed are the names of the cases, in that order.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import Final

from bench.core.cases import CASES

WARM_UP_CALLS: Final = 20
CALLS: Final = 50
"""What an interpreter that specialises its code needs, so as to say the same twice."""


def main() -> None:
    """All cases, or those that are named."""
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
