"""Decides which requests open a WebSocket, and refuses opening handshakes that are not valid.

This module owns the choice between the two protocols of a connection. The library `websockets` checks each
handshake before the protocol changes, so the server can still answer an invalid one over HTTP.
`api.websocket.handshake` decides which client may open a WebSocket.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from websockets.exceptions import HeaderLineTooLong, InvalidHeader, RequestLineTooLong
from websockets.http11 import MAX_LINE_LENGTH
from websockets.server import ServerProtocol

from tailrace.api.problems.table import HttpCode
from tailrace.api.websocket.route import WEBSOCKET_PATH
from tailrace.app.protocols.heads import RequestHead
from tailrace.app.protocols.refusals import ProtocolRefusal

_PATH: Final = WEBSOCKET_PATH.encode()
_VERSION_HEADER: Final = "Sec-WebSocket-Version"
_UPGRADE_HEADERS: Final = ((b"upgrade", b"websocket"), (b"sec-websocket-version", b"13"))

# The library would log every invalid handshake; only its client can correct it.
_silent: Final = logging.getLogger("tailrace.handshakes")
_silent.addHandler(logging.NullHandler())
_silent.propagate = False


def opens_websocket(head: RequestHead) -> bool:
    """Return whether a request asks for the WebSocket protocol at the path of the WebSocket.

    A request for any other protocol is served as HTTP/1.1, which HTTP allows.
    """
    if head.method != b"GET" or head.version != "1.1" or head.target.partition(b"?")[0] != _PATH:
        return False
    wished = [value.strip(b" \t").lower() for name, value in head.headers if name == b"upgrade"]
    return wished == [b"websocket"]


def require_handshake(head: RequestHead) -> None:
    """Raises `ProtocolRefusal` if the opening handshake is invalid: 400, 414, 426 or 431. O(bytes)."""
    opening = ServerProtocol(logger=_silent)
    opening.receive_data(head.to_bytes())
    for request in opening.events_received():
        opening.accept(request)  # type: ignore[arg-type] # before the handshake there are only requests
    if opening.handshake_exc is not None:
        raise _refusal(opening.handshake_exc)


def hand_over(
    transport: asyncio.Transport,
    successor: asyncio.Protocol,
    head: RequestHead,
    rest: bytes,
    *,
    is_write_paused: bool,
) -> None:
    """Pass the connection to the WebSocket protocol, which reads the handshake again. `rest`: frames of a
    client that has not waited for the response. `is_write_paused`: the client has not read earlier answers;
    the transport told this to the protocol before."""
    successor.connection_made(transport)
    if is_write_paused:
        successor.pause_writing()
    successor.data_received(head.to_bytes())
    transport.set_protocol(successor)
    if rest:
        successor.data_received(rest)


def _refusal(error: Exception) -> ProtocolRefusal:
    if isinstance(error, RequestLineTooLong):
        detail = f"the request line of a WebSocket handshake may take {MAX_LINE_LENGTH} bytes at most"
        return ProtocolRefusal(HttpCode.URL_TOO_LONG, detail)
    if isinstance(error, HeaderLineTooLong):
        detail = f"a header line of a WebSocket handshake may take {MAX_LINE_LENGTH} bytes at most"
        return ProtocolRefusal(HttpCode.HEAD_TOO_LARGE, detail)
    if isinstance(error, InvalidHeader) and error.name == _VERSION_HEADER:
        detail = f"the WebSocket version is 13: {error}"
        return ProtocolRefusal(HttpCode.UPGRADE_REQUIRED, detail, _UPGRADE_HEADERS)
    cause = error.__cause__ or error
    return ProtocolRefusal(HttpCode.BAD_REQUEST, f"the WebSocket handshake is not valid: {cause}")
