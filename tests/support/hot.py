"""The routes of hot requests, found from parsed heads as the server does."""

from __future__ import annotations

from collections.abc import Iterable

from tailrace.api.access.security import UNSECURED
from tailrace.api.operations.headers import HotClients, used_headers
from tailrace.api.operations.requests import HotRoute, hot_route

_CLIENTS = HotClients(UNSECURED)


def route_of(method: bytes, target: bytes, headers: Iterable[tuple[bytes, bytes]]) -> HotRoute | None:
    """Return the route of a request; None if the documented route has to serve it."""
    used = used_headers(headers)
    read = None if used is None else _CLIENTS.read(used)
    return None if read is None else hot_route(b"%b %b HTTP/1.1" % (method, target), read)
