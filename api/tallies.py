"""How many of a kind may be open at once: tails, WebSockets, subscriptions.

It owns the counts and the refusal. Each connection and subscription enters and leaves by itself.
"""

from __future__ import annotations

from typing import Final

from tailrace.api.problems.table import HttpCode, RequestRefused
from tailrace.api.server_limits import ServerLimits

RETRY_AFTER_S: Final = 1


class OpenLimit:
    """At most `most` of `what` may be open at a time. A context in which one more is counted as open."""

    __slots__ = ("_most", "_what", "open_count")

    def __init__(self, what: str, most: int) -> None:
        self._what = what
        self._most = most
        self.open_count = 0

    def require_room(self) -> None:
        """Raises `RequestRefused` where as many are open as may be."""
        if self.open_count >= self._most:
            raise RequestRefused(
                HttpCode.TOO_MANY_OPEN,
                f"{self._most} {self._what} are open, the server's limit; close one, or try again later",
                headers={"Retry-After": str(RETRY_AFTER_S)},
            )

    def enter(self) -> None:
        """One more is open."""
        self.open_count += 1

    def leave(self) -> None:
        """One less."""
        self.open_count -= 1

    def __enter__(self) -> None:
        self.enter()

    def __exit__(self, *_: object) -> None:
        self.leave()


class OpenLimits:
    """All of these limits of one server."""

    def __init__(self, limits: ServerLimits) -> None:
        self.event_streams = OpenLimit("tails", limits.event_streams_max)
        self.websockets = OpenLimit("WebSockets", limits.websockets_max)
        self.subscriptions = OpenLimit("subscriptions", limits.subscriptions_max)
