"""How soon another thread gets the interpreter. The program runs in a process of its own: it is a setting."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
from tailrace.app.process_tuning import tune_thread_switches

tune_thread_switches()
print(sys.getswitchinterval())
"""

SLICE_S = 0.0009
"""About how long one slice of long work holds the interpreter."""


def test_a_waiting_thread_asks_for_the_interpreter_within_a_slice() -> None:
    answer = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert 0 < float(answer.stdout) < SLICE_S / 2
