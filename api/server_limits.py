"""The bounds that an operator sets: each one's name, default, range and meaning, once.

`app.settings` takes them as options, `GET /v1/limits` shows them, and whoever holds to one is given this
object. What one request may cost is fixed, and stands in `core.limits`. In none of them does 0 mean
"refuse all": where it is allowed, it means that there is no such bound.

How the deadlines were chosen: a client that sends nothing, or drips its head, is to be gone within ten
seconds, and the connections are looked at once a second, so the head gets six. A body gets no time in
all, since 8 MiB over a slow line take what they take; it must keep moving.
"""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel, Field

_MANY = 1_000_000
_HOUR_S = 3_600


def _bound(default: int, least: int, most: int, description: str) -> Any:
    return Field(default=default, ge=least, le=most, description=description, examples=[default])


class ServerLimits(BaseModel):
    """Bounds on clients, and on what all of them together may take."""

    header_timeout_s: int = _bound(
        6,
        1,
        _HOUR_S,
        "Seconds from the connection, or from a request's first byte, to the end of its head; then it is "
        "408, or a close where nothing was sent.",
    )
    body_bytes_per_s_min: int = _bound(
        1_024,
        0,
        1 << 30,
        "Bytes a second that a body must bring, on average over every 8 seconds; else it is 408. "
        "0: as slowly as the client likes.",
    )
    answer_timeout_s: int = _bound(
        30, 1, _HOUR_S, "Seconds in which a client takes nothing of its answer, before the connection is cut."
    )
    keep_alive_timeout_s: int = _bound(
        # Beyond the 60 s after which common proxies close theirs: a server that closes first loses the
        # request that is on its way.
        75,
        1,
        _HOUR_S,
        "Seconds that a connection is kept while no request is on it.",
    )
    connections_max: int = _bound(
        16_384, 1, _MANY, "Connections at a time, WebSockets included; further ones are told 503 and closed."
    )
    connections_per_peer_max: int = _bound(
        0,
        0,
        _MANY,
        "Connections at a time from one address (IPv6: one /64 network); 0: no bound of its own. "
        "Behind a proxy all clients have its address.",
    )
    waiting_readers_max: int = _bound(
        100_000, 1, _MANY, "Reads that wait for data at a time, whatever they came by; further ones are 503."
    )
    event_streams_max: int = _bound(
        10_000, 1, _MANY, "Tails (Server-Sent Events) at a time; further ones are 503."
    )
    websockets_max: int = _bound(10_000, 1, _MANY, "WebSockets at a time; further handshakes are 503.")
    subscriptions_max: int = _bound(
        100_000, 1, _MANY, "Subscriptions of all WebSockets at a time; further ones are refused with 503."
    )
    bodies_mb: int = _bound(
        512,
        64,
        1_048_576,
        "MiB of request bodies and WebSocket messages held at a time, those below 64 KiB not counted; what "
        "comes beyond is 503, or close code 4013.",
    )
    requests_per_s: int = _bound(
        0,
        0,
        _MANY,
        "Requests a second of one token, or of one address where there is none; WebSocket messages count as "
        "requests. Beyond it is 429 with Retry-After. 0: no bound.",
    )
    request_burst: int = _bound(
        0, 0, _MANY, "Requests that may come at once before the rate holds; 0: as many as one second's."
    )
    memory_limit_mb: int = _bound(
        0,
        0,
        1_048_576,
        "MiB of resident memory above which appends, and what else makes the data grow, are 507; reads, "
        "acknowledgments, deletions and trims go on. 0: no bound.",
    )


DEFAULT_LIMITS: Final = ServerLimits()
