"""The clock of a test server: real time plus the time that the test has added."""

from __future__ import annotations

from collections.abc import Callable

from tailrace.app.clock import monotonic_clock_ms, system_clock_ms


class TestClock:
    """Runs like the clocks of a production server, and moves forward when a test calls `advance`."""

    __test__ = False
    """pytest does not collect this class."""

    def __init__(self) -> None:
        self._added_ms = 0
        self._on_server: Callable[[Callable[[], None]], None] = lambda move: move()
        self._serve_due: Callable[[], None] = lambda: None

    def connect(self, on_server: Callable[[Callable[[], None]], None], serve_due: Callable[[], None]) -> None:
        """From now on, move the clock with `on_server`, and call `serve_due` after each move."""
        self._on_server, self._serve_due = on_server, serve_due

    def now_ms(self) -> int:
        """Return the time of the server in Unix milliseconds."""
        return system_clock_ms() + self._added_ms

    def monotonic_ms(self) -> int:
        """Return the time from which the server measures waits."""
        return monotonic_clock_ms() + self._added_ms

    def advance(self, ms: int) -> None:
        """Move the clock forward by `ms` milliseconds, and return when the server has served what is due.

        Waiting reads time out or claim entries, and idempotency keys expire. Raises `ValueError` if `ms` is
        negative.
        """
        if ms < 0:
            raise ValueError(f"advance({ms}): the clock only moves forward; give 0 or more milliseconds")

        def move() -> None:
            self._added_ms += ms
            self._serve_due()

        self._on_server(move)
