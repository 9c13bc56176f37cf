"""How soon another thread gets the interpreter while the event loop works.

It owns this one setting of the process. It never starts a thread.
"""

from __future__ import annotations

import sys
from typing import Final

SWITCH_INTERVAL_S: Final = 0.0002
"""A thread that waits for the interpreter asks for it after this time; Python's default is 5 ms."""


def tune_thread_switches() -> None:
    """Let the writer thread commit while the loop does long work in slices.

    A commit takes the interpreter about ten times, once for each call of SQLite. Between two slices the loop
    gives the interpreter up for a moment and takes it back, before the waiting thread has woken; then the
    waiting time of the thread begins again. With an interval longer than a slice, the thread therefore never
    asks, and a commit takes as long as all slices together.
    """
    sys.setswitchinterval(SWITCH_INTERVAL_S)
