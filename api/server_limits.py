"""The limits that an operator sets: name, default, range and meaning of each one; and the tallies that
count what is open at once against such a limit.
"""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel, Field

from tailrace.api.problems.table import HttpCode, RequestRefused

_MANY = 1_000_000
_HOUR_S = 3_600


def _bound(default: int, least: int, most: int, description: str) -> Any:
    return Field(default=default, ge=least, le=most, description=description, examples=[default])


class ServerLimits(BaseModel):
    """Limits on each client, and on all clients together."""

    header_timeout_s: int = _bound(
        6,
        1,
        _HOUR_S,
        "Seconds for the head of a request, counted from the connection or the first byte. After that the "
        "server "
        "answers 408; if the client sent nothing, it closes the connection.",
    )
    body_bytes_per_s_min: int = _bound(
        1_024,
        0,
        1 << 30,
        "Minimum bytes per second of a body, on average over every 8 seconds. A slower body is 408. "
        "0: no minimum.",
    )
    answer_timeout_s: int = _bound(
        30,
        1,
        _HOUR_S,
        "Seconds that a client may read nothing of its response before the server cuts the connection.",
    )
    keep_alive_timeout_s: int = _bound(
        # Longer than the 60 s after which common proxies close theirs: if the server closes first, a request
        # may be lost on the way.
        75,
        1,
        _HOUR_S,
        "Seconds that the server keeps a connection open between requests.",
    )
    connections_max: int = _bound(
        16_384,
        1,
        _MANY,
        "Open connections, including WebSockets. Further ones are answered with 503 and closed.",
    )
    connections_per_peer_max: int = _bound(
        0,
        0,
        _MANY,
        "Open connections from one address (IPv6: one /64 network). 0: no limit per address. "
        "Behind a proxy, all clients share the proxy's address.",
    )
    waiting_readers_max: int = _bound(
        100_000, 1, _MANY, "Reads that wait for data, over all transports. Further ones are 503."
    )
    event_streams_max: int = _bound(
        10_000, 1, _MANY, "Open tails (Server-Sent Events). Further ones are 503."
    )
    websockets_max: int = _bound(10_000, 1, _MANY, "Open WebSockets. Further handshakes are 503.")
    subscriptions_max: int = _bound(
        100_000, 1, _MANY, "Subscriptions of all WebSockets. Further ones are refused with 503."
    )
    bodies_mb: int = _bound(
        512,
        64,
        1_048_576,
        "MiB of request bodies and WebSocket messages in memory; those below 64 KiB do not count. Further "
        "ones "
        "are 503, or close code 4013.",
    )
    requests_per_s: int = _bound(
        0,
        0,
        _MANY,
        "Requests per second for each token, or for each address without a token. WebSocket messages count "
        "as "
        "requests. Further ones are 429 with Retry-After. 0: no limit.",
    )
    request_burst: int = _bound(
        0,
        0,
        _MANY,
        "Requests that may arrive at once before the rate applies. 0: as many as one second allows.",
    )
    memory_limit_mb: int = _bound(
        0,
        0,
        1_048_576,
        "MiB of resident memory. Above it, commands that make the data grow are 507; reads, acknowledgments, "
        "deletions and trims still work. 0: no limit.",
    )


DEFAULT_LIMITS: Final = ServerLimits()


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
