"""Opens a WebSocket to a running server for tests.

Owns the address of the WebSocket; the test sends and receives the messages.
"""

from __future__ import annotations

from collections.abc import Mapping

from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol


def open_socket(
    base_url: str,
    *subprotocols: str,
    headers: Mapping[str, str] | None = None,
    origin: str | None = None,
    max_size: int | None = 1 << 20,
) -> ClientConnection:
    """Return an open WebSocket to the server at `base_url`; JSON by default."""
    return connect(
        f"{base_url.replace('http', 'ws', 1)}/v1/ws",
        subprotocols=[Subprotocol(name) for name in subprotocols or ("tailrace.v1.json",)],
        additional_headers=headers,
        max_size=max_size,
        origin=None if origin is None else Origin(origin),
    )
