"""Ctrl-C while a command stores its progress."""

from __future__ import annotations

import signal

import pytest

from tailrace.app.cli.transfer.state import uninterrupted


def test_an_interrupt_waits_until_the_progress_is_stored() -> None:
    stored = []

    def store() -> None:
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            stored.append(1)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            store()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert stored == [1]
