"""Finds keys by prefix for completion at the prompt and in the shell, with a short time limit."""

from __future__ import annotations

import os
from typing import Final

from tailrace.app.cli.server import Server, ServerProblem

KEYS_MAX: Final = 200
"""The number of keys that completion offers."""

TIMEOUT_VARIABLE: Final = "TAILRACE_COMPLETION_TIMEOUT_S"
TIMEOUT_S_DEFAULT: Final = 0.5
"""The time limit of the request, unless the variable sets another one."""


def matching_keys(server: Server, prefix: str) -> list[str]:
    """Return the first `KEYS_MAX` keys that begin with `prefix`, sorted; empty if the server cannot be
    reached within its `timeout_s`. Keys that are not UTF-8 are left out."""
    parameters = [("prefix", prefix), ("limit", str(KEYS_MAX))]
    try:
        answer = server.request("GET", "/v1/streams", parameters=parameters)
    except ServerProblem:
        return []
    return [stream["key"] for stream in answer.json()["streams"] if "encoding" not in stream]


def timeout_s() -> float:
    """Return the time limit of the request in seconds.

    A value that is not a positive number is ignored, because completion has no place for an error.
    """
    try:
        given_s = float(os.environ.get(TIMEOUT_VARIABLE, TIMEOUT_S_DEFAULT))
    except ValueError:
        return TIMEOUT_S_DEFAULT
    return given_s if 0 < given_s < float("inf") else TIMEOUT_S_DEFAULT
