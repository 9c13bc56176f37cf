"""Chooses the server and the token of a command: from arguments, variables, or a context.

The first of these that is given names the server:

1. `--url` (for `tailrace cli` also `-h` and `-p`)
2. `--context`
3. the variable `TAILRACE_URL`
4. the variable `TAILRACE_CONTEXT`
5. the variable `TAILRACE_PORT`, for this machine
6. the context that `tailrace context use` chose
7. `http://127.0.0.1:8080`

The token is that of `--token-file` or `--token`; then that of the context, if a context names the server;
then that of the variables. A context's token is never sent to another server than that of the context.
"""

from __future__ import annotations

import os
from typing import Any, Final, NamedTuple

import typer

from tailrace.app.cli.client.connection import PORT_VARIABLE
from tailrace.app.cli.contexts.file import BadContexts, Context, load

CONTEXT_VARIABLE: Final = "TAILRACE_CONTEXT"

_SERVER_ARGUMENTS: Final = ("url", "host", "port")
_TOKEN_ARGUMENTS: Final = ("token", "token_file")


class Chosen(NamedTuple):
    """The context that a command uses, and what chose it; both None if no context is used."""

    name: str | None
    why: str | None


def overrides(context: typer.Context, name: str | None) -> dict[str, Any]:
    """Return the parameters of the command that a context replaces. `name`: the value of `--context`.

    Raises `typer.BadParameter` or `BadContexts`.
    """
    is_argument = _is_argument(context, "context")
    if any(_is_argument(context, each) for each in _SERVER_ARGUMENTS):
        if is_argument:
            raise typer.BadParameter("--context and --url exclude each other")
        return {}
    found = chosen(name, is_argument=is_argument)
    if found.name is None:
        return {}
    server = load().get(found.name)
    if any(_is_argument(context, each) for each in _TOKEN_ARGUMENTS):
        return {"url": server.url}
    return {"url": server.url, **_token(found.name, server)}


def chosen(name: str | None, *, is_argument: bool) -> Chosen:
    """Return the context that is used if no argument names the server. Raises `BadContexts`."""
    if is_argument:
        return Chosen(name, "--context")
    if os.environ.get("TAILRACE_URL"):
        return Chosen(None, None)
    if name:
        return Chosen(name, CONTEXT_VARIABLE)
    if os.environ.get(PORT_VARIABLE):
        return Chosen(None, None)
    current = load().current
    return Chosen(current, None if current is None else "tailrace context use")


def _token(name: str, server: Context) -> dict[str, Any]:
    """Return the parameters of the token; empty if the context has none."""
    if server.token_file is not None:
        return {"token": None, "token_file": server.token_file}
    if server.token_variable is None:
        return {}
    token = os.environ.get(server.token_variable)
    if not token:
        raise BadContexts(
            f"the context {name!r} has its token in the variable {server.token_variable}, which is not set"
        )
    return {"token": token, "token_file": None}


def _is_argument(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
