"""The log of a store: records effects, and says when they are durable.

It owns what the store needs of a log, and the log that stores nothing. `app.store.commit` has the log that
commits effects to disk.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from tailrace.core.effects import Effect

Release = Callable[[], None]


class Log(Protocol):
    """Records effects, and releases callbacks when they are durable."""

    def record(self, effects: Sequence[Effect]) -> None:
        """Record the effects of one command or transaction. O(effects)."""
        ...

    def joined(self, count: int) -> None:
        """Count `count` further commands, whose effects are part of those that were recorded last."""
        ...

    @property
    def is_behind(self) -> bool:
        """Return whether replies must wait, because recorded effects are not durable yet."""
        ...

    def when_durable(self, release: Release) -> None:
        """Call `release` when all effects recorded so far are durable, or when the log has failed."""
        ...

    def fail(self, error: Exception) -> None:
        """Stop writing because of `error`."""
        ...


class NoLog:
    """The log for `--durability none`: it stores no effects, and replies never wait."""

    is_behind = False

    def record(self, effects: Sequence[Effect]) -> None:
        """Discard the effects."""

    def joined(self, count: int) -> None:
        """Count nothing."""

    def when_durable(self, release: Release) -> None:
        """Call `release` at once."""
        release()

    def fail(self, error: Exception) -> None:
        """Do nothing: this log never writes."""
