"""The headers of a hot request that identify its client.

This module finds them in a head. It never decides what a client may do.
"""

from __future__ import annotations

from msgspec import Struct

from tailrace.api.access.origins import is_unbindable
from tailrace.app.protocols.request_head import Headers


class Credentials(Struct, frozen=True, gc=False):
    """The headers of a request that identify its client."""

    authorization: bytes | None
    host: bytes | None
    """None also if DNS rebinding is impossible for the name: then no server refuses it."""


def credentials_of(headers: Headers) -> Credentials:
    """Return the credentials in the headers of a hot request, which has each header once."""
    authorization = host = None
    for name, value in headers:
        if name == b"host":
            host = None if is_unbindable(value) else value
        elif name == b"authorization":
            authorization = value
    return Credentials(authorization, host)
