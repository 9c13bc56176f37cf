"""Signals that stop a consumer, and the handlers that they replace while the consumer may run.

The first signal stops the consumer gracefully. A second SIGINT interrupts it, as Ctrl-C does without a
handler; further signals of other kinds change nothing. At the end of a run, the former handlers are back.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable
from queue import SimpleQueue
from types import FrameType
from typing import Any

Handler = Callable[[int, FrameType | None], Any] | int | signal.Handlers | None


def numbers_of(numbers: tuple[signal.Signals, ...]) -> tuple[signal.Signals, ...]:
    """Return the signals to handle."""
    return numbers or (signal.SIGTERM, signal.SIGINT)


class StopSignals:
    """The signals of a blocking consumer.

    A handler of signals interrupts code that may hold any lock, so it must not take one: it must neither call
    `stop` nor start a thread. It puts the stop into a queue, which is safe there, and a thread that waits for
    the queue calls `stop`.
    """

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        self._former: dict[signal.Signals, Handler] = {}
        self._requests: SimpleQueue[bool] = SimpleQueue()
        self._is_waiting = False
        self._is_stopping = False

    def install(self, numbers: tuple[signal.Signals, ...]) -> None:
        """Replace the handlers of the signals. Raises `ValueError` outside the main thread."""
        for number in numbers_of(numbers):
            former = signal.signal(number, self._handle)
            self._former.setdefault(number, former)
        if not self._is_waiting:
            self._is_waiting = True
            self._requests = SimpleQueue()
            threading.Thread(target=self._wait, args=(self._requests,), daemon=True).start()

    def restore(self) -> None:
        """Put the former handlers back. Other threads than the main thread cannot: the handlers stay."""
        if threading.current_thread() is threading.main_thread():
            for number, former in self._former.items():
                signal.signal(number, former)
            self._former.clear()
            if self._is_waiting:
                self._is_waiting = False
                self._requests.put(False)  # noqa: FBT003 - ends the waiting thread
        self._is_stopping = False

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._is_stopping and number == signal.SIGINT:
            signal.default_int_handler(number, frame)
        self._is_stopping = True
        self._requests.put(True)  # noqa: FBT003 - asks for a stop

    def _wait(self, requests: SimpleQueue[bool]) -> None:
        while requests.get():
            self._stop()


class AsyncStopSignals:
    """The signals of an asyncio consumer."""

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        self._former: dict[signal.Signals, Handler] = {}

    def install(self, numbers: tuple[signal.Signals, ...]) -> None:
        """Handle the signals in the running event loop."""
        for number in numbers_of(numbers):
            former = signal.getsignal(number)
            asyncio.get_running_loop().add_signal_handler(number, self._handle, number)
            self._former.setdefault(number, former)

    def restore(self) -> None:
        """Put the former handlers back."""
        for number in list(self._former):
            self._restore(number)

    def _handle(self, number: signal.Signals) -> None:
        self._stop()
        if number == signal.SIGINT:
            self._restore(number)  # The next one interrupts.

    def _restore(self, number: signal.Signals) -> None:
        former = self._former.pop(number, None)
        asyncio.get_running_loop().remove_signal_handler(number)
        if former is not None:
            signal.signal(number, former)
