"""The error for a client of Redis over REST that has the wrong base URL.

Such a client sends `POST /`, `POST /pipeline`, `POST /multi-exec` or `GET /xadd/...`, and shows its user the
member `error` of the response. This module writes that member for requests to other paths than those of
commands. The errors of commands have the error lines of Redis.
"""

from __future__ import annotations

from typing import Final

from starlette.requests import Request

COMMAND_PATH: Final = "/v1/command"
_API: Final = "/v1/"


def takes_redis_commands(path: str) -> bool:
    """Return whether a client for Redis over REST may have sent a request to `path`: a command path, or a
    path outside of the API."""
    return is_command_path(path) or not path.startswith(_API)


def is_command_path(path: str) -> bool:
    """Return whether `path` accepts commands."""
    return path.startswith(COMMAND_PATH)


def commands_are_elsewhere(request: Request) -> str:
    """Return the error line that says where to send commands, with the host that the client used."""
    base_url = str(request.base_url).rstrip("/")
    return (
        f"ERR {request.method} {request.scope['path']} does not accept Redis commands; send them to "
        f"{base_url}{COMMAND_PATH}: that is the base URL for clients of Redis over REST, and it accepts a "
        "POST with the command as a JSON array"
    )
