"""Shell completion of stream keys.

It asks the server that the command line or the environment names. The request has a short time limit because
the shell blocks until completion returns.
"""

from __future__ import annotations

import os
from typing import Any

import typer

from tailrace.app.cli.client.connection import DEFAULT_URL, TOKEN_VARIABLE, URL_VARIABLE, checked_url
from tailrace.app.cli.client.http_client import Server
from tailrace.app.cli.redis.keys import matching_keys


def complete_stream(context: typer.Context, incomplete: str) -> list[str]:
    """Return the keys that begin with `incomplete`; empty if the server cannot be reached."""
    given: dict[str, Any] = context.params
    url = given.get("url") or os.environ.get(URL_VARIABLE) or DEFAULT_URL
    try:
        with Server(checked_url(url), given.get("token") or os.environ.get(TOKEN_VARIABLE)) as server:
            return matching_keys(server, incomplete)
    except typer.BadParameter:
        return []
