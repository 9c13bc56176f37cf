"""The length of the crash tests and their seed: short by default, longer if `make crash` asks for it."""

from __future__ import annotations

import os
import random
import sys
from typing import Final

KILL_ROUNDS: Final = int(os.environ.get("CRASH_KILL_ROUNDS", "5"))
POWER_CUTS: Final = int(os.environ.get("CRASH_POWER_CUTS", "60"))
BIT_FLIPS: Final = int(os.environ.get("CRASH_BIT_FLIPS", "100"))
SEED: Final = int(os.environ.get("CRASH_SEED", random.SystemRandom().randrange(1 << 32)))
"""A run can be had again with `CRASH_SEED=...`, as far as threads and disks let it."""


def say(text: str) -> None:
    """Print a line: pytest shows it where the test fails, or with `-s`."""
    sys.stdout.write(f"{text}\n")
