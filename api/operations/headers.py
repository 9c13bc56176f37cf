"""The headers that a hot operation uses, and the client that they describe.

A header in neither table below means nothing to the server: the hot way skips it, whatever its value. So a
request of a browser, through a proxy, takes the same way as one of curl. This module owns what the headers
mean. It never reads the bytes of a head.

=================================  ======================================================================
header                             what it decides
=================================  ======================================================================
`host`, `authorization`            who the client is (`api.access.security`)
`origin`, `sec-fetch-site`         whether a page may send the request, and the CORS headers of the answer
`accept`, `content-type`           whether the operation's media types fit
`content-length`, `connection`     where the request ends, and whether the connection does
`x-request-id`                     the id of the request
`traceparent`, `tracestate`        the trace that the request belongs to
`idempotency-key`, `producer-*`    the idempotency of an append
=================================  ======================================================================

Each of them may be given once. The documented route serves every request that these headers make special.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping
from typing import Final, TypeAlias

from msgspec import Struct

from tailrace.api.access.origins import is_host, is_unbindable
from tailrace.api.access.security import Security
from tailrace.api.wire.idempotency import PRODUCER_HEADER_NAMES
from tailrace.api.wire.negotiation import JSON, accepts, media_type_of

VARYING: Final = frozenset(
    {
        b"traceparent",
        b"tracestate",
        b"x-request-id",
        *PRODUCER_HEADER_NAMES,
    }
)
"""The headers whose values may differ with each request of a client, and that need not be remembered."""

_OF_CLIENT: Final = (
    b"host",
    b"authorization",
    b"origin",
    b"sec-fetch-site",
    b"accept",
    b"content-type",
    b"connection",
)

USED: Final = frozenset({*_OF_CLIENT, b"content-length", *VARYING})

ELSEWHERE: Final = frozenset(
    {
        b"consistency",
        b"content-encoding",
        b"expect",
        b"last-event-id",
        b"min-replicas",
        b"prefer",
        b"proxy-connection",
        b"tailrace-trace",
        b"transfer-encoding",
        b"upgrade",
        b"upstash-encoding",
    }
)
"""The headers that only the HTTP parser or the documented routes read."""

CLIENTS_MAX: Final = 1024
CLIENT_BYTES_MAX: Final = 4_096
"""The clients that a server remembers, and the longest headers of one of them. At this number it forgets all:
anyone may send heads that differ."""

DIGITS_MAX: Final = 9
"""The most digits in the length of a hot request's body."""

UsedHeaders: TypeAlias = Mapping[bytes, bytes]
"""The values of the headers in `USED` that a request has, by name."""


def used_headers(pairs: Iterable[tuple[bytes, bytes]]) -> UsedHeaders | None:
    """Return the used ones of these headers, whose names are in lower case. None if the documented route has
    to serve the request: a used header is repeated, or one is read only there. O(headers)."""
    found: dict[bytes, bytes] = {}
    for name, value in pairs:
        if name in USED:
            if name in found:
                return None
            found[name] = value
        elif name in ELSEWHERE:
            return None
    return found


class HotClient(Struct, frozen=True, eq=False, gc=False):
    """What the headers of a client say that are the same in all its requests of a kind."""

    authorization: bytes | None
    host: bytes | None
    """None also if DNS rebinding is impossible for the name: then no server refuses it."""
    media_type: str | None
    """The media type of the body, without parameters."""
    answer_lines: str
    """The CORS headers of the answers, each with its end of line."""


class HotHeaders(Struct, frozen=True, eq=False, gc=False):
    """What all headers of a request say. `used`: those in `USED`. `length`: the bytes of the body; None if no
    header says it. `names_producer`: whether the request has an idempotency key, or a part of it."""

    client: HotClient
    used: UsedHeaders
    length: int | None
    names_producer: bool


def with_varying(headers: HotHeaders, used: UsedHeaders) -> HotHeaders:
    """Return the headers of another request of the client, with these used headers."""
    return HotHeaders(headers.client, used, headers.length, not PRODUCER_HEADER_NAMES.isdisjoint(used))


class HotClients:
    """The clients of one server, by their headers. `security` decides which pages may send requests."""

    def __init__(self, security: Security) -> None:
        self._security = security
        self._clients: MutableMapping[tuple[bytes | None, ...], HotClient | None] = {}

    def read(self, used: UsedHeaders) -> HotHeaders | None:
        """Return what the headers of a request say; None if the documented route has to answer it."""
        client = self.of(used)
        if client is None:
            return None
        text = used.get(b"content-length")
        length = int(text) if text is not None and text.isdigit() and len(text) <= DIGITS_MAX else None
        return HotHeaders(client, used, length, not PRODUCER_HEADER_NAMES.isdisjoint(used))

    def of(self, headers: UsedHeaders) -> HotClient | None:
        """Return the client; None if the documented route has to answer it. O(1) for a known client."""
        values = tuple(map(headers.get, _OF_CLIENT))
        try:
            return self._clients[values]
        except KeyError:
            client = self._client(*values)
            if sum(len(value) for value in values if value) <= CLIENT_BYTES_MAX:
                if len(self._clients) >= CLIENTS_MAX:
                    self._clients.clear()
                self._clients[values] = client
            return client

    def _client(
        self,
        host: bytes | None,
        authorization: bytes | None,
        origin: bytes | None,
        site: bytes | None,
        accept: bytes | None,
        content_type: bytes | None,
        connection: bytes | None,
    ) -> HotClient | None:
        if host is None or not is_host(host):
            return None
        if connection is not None and connection.lower() != b"keep-alive":
            return None
        if accept is not None and not accepts(accept.decode("latin-1"), JSON):
            return None
        page = _text(origin)
        if not self._security.origins.admits(page, _text(site), host.decode("latin-1")):
            return None
        cors = self._security.origins.answer_headers(page)
        return HotClient(
            authorization,
            None if is_unbindable(host) else host,
            None if content_type is None else media_type_of(content_type.decode("latin-1")),
            "".join(f"{name}: {value}\r\n" for name, value in cors.items()),
        )


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode("latin-1")
