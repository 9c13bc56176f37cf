"""Limits on how many tails, WebSockets and subscriptions are open at once.

It owns the counts and the error. Each tail, WebSocket and subscription counts itself in and out.
"""

from __future__ import annotations

from typing import Final

from tailrace.api.problems.table import HttpCode, RequestRefused
from tailrace.api.server_limits import ServerLimits

RETRY_AFTER_S: Final = 1


class OpenLimit:
    """The limit for one kind: at most `most` of `what` may be open at a time.

    As a context manager, it counts one as open for the duration of the context.
    """

    __slots__ = ("_most", "_what", "open_count")

    def __init__(self, what: str, most: int) -> None:
        self._what = what
        self._most = most
        self.open_count = 0

    def require_room(self) -> None:
        """Raise `RequestRefused` (503) if the limit is reached."""
        if self.open_count >= self._most:
            raise RequestRefused(
                HttpCode.TOO_MANY_OPEN,
                f"{self._most} {self._what} are open, which is the server's limit; close one, or try again "
                f"later",
                headers={"Retry-After": str(RETRY_AFTER_S)},
            )

    def enter(self) -> None:
        """Count one as open."""
        self.open_count += 1

    def leave(self) -> None:
        """Count one as closed."""
        self.open_count -= 1

    def __enter__(self) -> None:
        self.enter()

    def __exit__(self, *_: object) -> None:
        self.leave()


class OpenLimits:
    """The open tails, WebSockets and subscriptions of one server, each with its limit."""

    def __init__(self, limits: ServerLimits) -> None:
        self.event_streams = OpenLimit("tails", limits.event_streams_max)
        self.websockets = OpenLimit("WebSockets", limits.websockets_max)
        self.subscriptions = OpenLimit("subscriptions", limits.subscriptions_max)
