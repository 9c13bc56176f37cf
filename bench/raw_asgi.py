"""The smallest ASGI app: it reads a body, responds as an append does, and stores nothing.

Serves `bench.ceilings`, which starts it with ``python -m bench.raw_asgi``. It prints its address as the first
line.
"""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable
from typing import Any, Final

import uvicorn

ANSWER: Final = b'{"id":"1795193180296-0"}'
HEADERS: Final = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(ANSWER))]


async def app(
    scope: dict[str, Any],
    receive: Callable[[], Awaitable[dict[str, Any]]],
    send: Callable[[dict[str, Any]], Awaitable[None]],
) -> None:
    """Handle one request."""
    assert scope["type"] == "http"
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 201, "headers": HEADERS})
    await send({"type": "http.response.body", "body": ANSWER})


def main() -> None:
    """Serve on a free port until terminated."""
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    config = uvicorn.Config(
        app, loop="uvloop", http="httptools", lifespan="off", access_log=False, log_level="warning"
    )
    uvicorn.Server(config).run([listener])


if __name__ == "__main__":
    main()
