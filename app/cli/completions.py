"""Shell completion of stream keys.

It asks the server that the command line, the environment or a context names. The request has a short time
limit because the shell blocks until completion returns.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import typer

from tailrace.app.cli.client_command import DEFAULT_URL, TOKEN_VARIABLE, URL_VARIABLE, checked_url
from tailrace.app.cli.contexts import BadContexts, overrides
from tailrace.app.cli.redis.keys import matching_keys, timeout_s
from tailrace.app.cli.server import MISREAD, Server


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
