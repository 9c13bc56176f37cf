"""Lets Ctrl-C wait while a command stores its progress. This module handles SIGINT, and no other signal."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Raise `KeyboardInterrupt` for a SIGINT only at the end of the context, so that what it stores and what
    it counts belong together. Other threads than the main one get no SIGINT."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        raise KeyboardInterrupt
