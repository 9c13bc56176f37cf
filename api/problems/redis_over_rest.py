"""The error that a client for Redis over REST gets if its base URL is wrong.

Such a client sends `POST /`, `POST /pipeline`, `POST /multi-exec` or `GET /xadd/...`, and shows its user one
member of the response: `error`. This module owns that member for requests that are no command; the errors of
commands have Redis's own lines.
"""

from __future__ import annotations

from typing import Final

from starlette.requests import Request

COMMAND_PATH: Final = "/v1/command"
_API: Final = "/v1/"


def takes_redis_commands(path: str) -> bool:
    """Whether a client for Redis over REST may have sent a request to `path`: a command path, or one outside
    the API."""
    return is_command_path(path) or not path.startswith(_API)


def is_command_path(path: str) -> bool:
    """Whether commands are sent to `path`."""
    return path.startswith(COMMAND_PATH)


def commands_are_elsewhere(request: Request) -> str:
    """The error line that says where to send commands, with the host that the client used."""
    base_url = str(request.base_url).rstrip("/")
    return (
        f"ERR {request.method} {request.scope['path']} takes no Redis commands; send them to "
        f"{base_url}{COMMAND_PATH}: it is the base URL for clients of Redis over REST, and takes a POST with "
        "the command as a JSON array"
    )
