"""The calls that a run of hot requests makes to its connection. `http` implements them."""

from __future__ import annotations

import asyncio
from typing import Protocol

from uvicorn.server import ServerState

from tailrace.app.protocols.hot_request import HotRequest


class RunConnection(Protocol):
    """What a run needs of its connection. `client_address`: empty if it is unknown. `server_state`: it has
    the headers of every answer, and counts the answers."""

    transport: asyncio.Transport
    client_address: str
    server_state: ServerState

    def take(self, data: bytes) -> None:
        """Take the data after requests whose heads are plain."""
        ...

    def cut(self) -> None:
        """End the connection now."""
        ...

    def end_run(self) -> None:
        """Continue after the last answer of a run was written."""
        ...

    def start_documented(self, request: HotRequest) -> None:
        """Pass a complete hot request, which has changed nothing, to the documented route."""
        ...
