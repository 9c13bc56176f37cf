"""Completion of stream keys, in the shell and at the prompt.

In the shell it asks the server that the command line, the environment or a context names. The request has a
short time limit because typing waits for it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import typer

from tailrace.app.cli.client_command import DEFAULT_URL, TOKEN_VARIABLE, URL_VARIABLE, checked_url
from tailrace.app.cli.contexts import BadContexts, overrides
from tailrace.app.cli.server import MISREAD, Server, ServerProblem

# --- keys ---------------------------------------------------------------------------------------


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


# --- the shell ----------------------------------------------------------------------------------


def complete_stream(context: typer.Context, incomplete: str) -> list[str]:
    """Return the keys that begin with `incomplete`; empty if the server cannot be reached."""
    given: dict[str, Any] = dict(context.params)
    try:
        given |= overrides(context, given.get("context"))
        url = given.get("url") or os.environ.get(URL_VARIABLE) or DEFAULT_URL
        with Server(checked_url(url), _token(given), timeout_s()) as server:
            return [key for key in matching_keys(server, incomplete) if key.isprintable()]
    except (typer.BadParameter, BadContexts, OSError, *MISREAD):
        return []


def _token(given: dict[str, Any]) -> str | None:
    """Return the token. Raises `OSError` or `UnicodeDecodeError`; completion has no place for an error."""
    if given.get("token_file"):
        return Path(given["token_file"]).read_text().strip()
    return given.get("token") or os.environ.get(TOKEN_VARIABLE)
