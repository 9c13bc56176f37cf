"""`tailrace context`: adds, lists, chooses, shows and removes contexts.

It owns the options and the printed lines. It prints where a token is, and never a token.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

import httpx
import typer

from tailrace.app.cli.client_command import (
    DEFAULT_URL,
    TOKEN_VARIABLE,
    URL_VARIABLE,
    ClientCommand,
    checked_url,
    command_group,
    fail,
)
from tailrace.app.cli.contexts import CONTEXT_VARIABLE, BadContexts, Context, changing, chosen, load
from tailrace.app.cli.output import say
from tailrace.app.cli.streams.rows import (
    AsJson,
    Column,
    Item,
    plain,
    print_facts,
    print_rows,
    text,
)

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

context: Final = command_group("Add, list and choose contexts: named servers with their tokens.")


def _known(incomplete: str) -> list[str]:
    try:
        return [name for name in load().contexts if name.startswith(incomplete)]
    except BadContexts:
        return []


_COLUMNS: Final = (
    Column(
        "", lambda item: "*" if item["is_current"] else "-", lambda item: "*" if item["is_current"] else ""
    ),
    text("context", "name"),
    text("server", "url"),
    Column("token", lambda item: plain(item["token"]), lambda item: item["token"] or ""),
)
_FACTS: Final = (
    text("context", "name"),
    text("server", "url"),
    text("token", "token"),
    text("chosen by", "chosen_by"),
)


@context.command(cls=ClientCommand)
def add(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Letters, digits and . _ @ -.", show_default=False)
    ],
    url: Annotated[str, typer.Option(metavar="URL", help="The server.", show_default=False)],
    token_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The file that has the token.", show_default=False),
    ] = None,
    token_variable: Annotated[
        str | None,
        typer.Option(metavar="VARIABLE", help="The variable that has the token.", show_default=False),
    ] = None,
    *,
    use_it: Annotated[bool, typer.Option("--use", help="Use this context from now on.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a context of this name.")] = False,
) -> None:
    """Add a context.

    The token stays in its file or variable; the context has only the name of
    the place. Commands read the token when they run.

    Exit status: 0; 1 if the context exists or the file cannot be written; 2
    for wrong arguments.

    [bold]Examples[/bold]

      tailrace context add prod --url https://tailrace.example.com --token-file ~/.prod-token --use

      tailrace context add ci --url http://10.0.0.7:8080 --token-variable CI_TOKEN
    """
    if not _NAME.fullmatch(name):
        raise typer.BadParameter(f"{name!r} is not a name: use letters, digits and . _ @ -, at most 64")
    if token_file is not None and token_variable is not None:
        raise typer.BadParameter("--token-file and --token-variable exclude each other")
    if token_variable is not None and not _VARIABLE.fullmatch(token_variable):
        raise typer.BadParameter("--token-variable: give the name of a variable, not a token")
    server = Context(
        _without_password(checked_url(url)),
        None if token_file is None else str(token_file.expanduser().absolute()),
        token_variable,
    )
    with _failing(), changing() as contexts:
        if name in contexts.contexts and not overwrite:
            raise BadContexts(
                f"the context {name!r} exists: use --overwrite to replace it; nothing was changed"
            )
        contexts.contexts[name] = server
        if use_it:
            contexts.current = name
    say(f"context {name} added{' and in use' if use_it else ''}: {server.url}")


@context.command("list", cls=ClientCommand)
def list_contexts(*, as_json: AsJson = False) -> None:
    """List the contexts; * marks the one in use.

    In a pipe the columns are separated by tabs: * or -, name, server, and
    where the token is.

    Exit status: 0; 1 if the file cannot be read.

    [bold]Examples[/bold]

      tailrace context list

      tailrace context list --json | jq -r .url
    """
    with _failing():
        contexts = load()
    items = [
        {"name": name, "url": each.url, "token": each.token_place, "is_current": name == contexts.current}
        for name, each in sorted(contexts.contexts.items())
    ]
    print_rows(_COLUMNS, items, as_json=as_json)


@context.command(cls=ClientCommand)
def use(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="The context.", autocompletion=_known, show_default=False),
    ] = None,
    *,
    none: Annotated[bool, typer.Option("--none", help="Use no context.")] = False,
) -> None:
    """Use a context from now on, where no argument and no variable names a server.

    Exit status: 0; 1 if the context does not exist; 2 for wrong arguments.

    [bold]Examples[/bold]

      tailrace context use prod

      tailrace context use --none
    """
    if (name is None) != none:
        raise typer.BadParameter("give either NAME or --none")
    with _failing(), changing() as contexts:
        if name is not None:
            contexts.get(name)
        contexts.current = name
    say("no context is in use" if name is None else f"context {name} is in use")


@context.command(cls=ClientCommand)
def show(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="A context.", autocompletion=_known, show_default=False),
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Show a context; without NAME the server that commands use now, and what chose it.

    Exit status: 0; 1 if the context does not exist.

    [bold]Examples[/bold]

      tailrace context show

      tailrace context show prod --json
    """
    with _failing():
        if name is not None:
            each = load().get(name)
            item: Item = {"name": name, "url": each.url, "token": each.token_place, "chosen_by": None}
        else:
            item = _in_use()
    print_facts(item, _FACTS if name is None else _FACTS[:-1], as_json=as_json)


def _in_use() -> Item:
    found = chosen(os.environ.get(CONTEXT_VARIABLE), is_argument=False)
    by_variables = _variable_with_token()
    if found.name is not None:
        each = load().get(found.name)
        token = each.token_place or by_variables
        return {"name": found.name, "url": each.url, "token": token, "chosen_by": found.why}
    given = os.environ.get(URL_VARIABLE)
    by = URL_VARIABLE if given else "TAILRACE_PORT" if os.environ.get("TAILRACE_PORT") else "default"
    return {"name": None, "url": checked_url(given or DEFAULT_URL), "token": by_variables, "chosen_by": by}


def _variable_with_token() -> str | None:
    found = next((name for name in ("TAILRACE_TOKEN_FILE", TOKEN_VARIABLE) if os.environ.get(name)), None)
    return None if found is None else f"variable {found}"


@context.command(cls=ClientCommand)
def rm(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The context.", autocompletion=_known, show_default=False)
    ],
) -> None:
    """Remove a context. Its token stays where it is.

    Exit status: 0; 1 if the context does not exist.

    [bold]Example[/bold]

      tailrace context rm prod
    """
    with _failing(), changing() as contexts:
        contexts.get(name)
        del contexts.contexts[name]
        if contexts.current == name:
            contexts.current = None
    say(f"context {name} removed")


@contextmanager
def _failing() -> Iterator[None]:
    """Turn `BadContexts` into one sentence and exit status 1."""
    try:
        yield
    except BadContexts as error:
        fail(str(error))


def _without_password(url: str) -> str:
    if httpx.URL(url).userinfo:
        raise typer.BadParameter("--url: leave out user and password; a context stores no secrets")
    return url
