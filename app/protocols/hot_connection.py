"""The calls that a hot request makes to its connection. `hot_run` implements them."""

from __future__ import annotations

from typing import Protocol, TypeVar

from uvicorn.server import ServerState

from tailrace.api.operations.appends import PlainBodies
from tailrace.api.wire.negotiation import JSON

RequestT_contra = TypeVar("RequestT_contra", contravariant=True)


class HotConnection(Protocol[RequestT_contra]):
    """The connection of a `HotRequest`, which imports this module. `server_state`: it has the headers of
    every answer of the server, and counts the answers. `bodies`: reads the bodies of its appends."""

    server_state: ServerState
    bodies: PlainBodies

    def answer_hot(
        self, request: RequestT_contra, status: int, content: bytes, media_type: str = JSON, lines: str = ""
    ) -> None:
        """Write the answer, and continue with the next request. `lines`: further headers of this answer."""
        ...

    def hand_on(self, request: RequestT_contra) -> None:
        """Pass the request, which has changed nothing, to the documented route."""
        ...

    def wait_began(self, request: RequestT_contra) -> None:
        """Stop the wait of the request if its client has left."""
        ...

    def single_ended(self, request: RequestT_contra) -> bool:
        """Write the answer to the only request of a read, at the end of a turn of the loop. Return whether it
        is written: it may not be known yet."""
        ...

    def cut(self) -> None:
        """End the connection now."""
        ...
