"""`tailrace cli`: sends Redis commands from a prompt, from arguments, or from standard input."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from tailrace.app.cli.client.connection import DEFAULT_URL, Token, TokenFile, Url, connected
from tailrace.app.cli.redis.printer import Printer
from tailrace.app.cli.redis.printing import Form
from tailrace.app.cli.redis.quoting import Unbalanced, split_words
from tailrace.app.cli.redis.session import Session


def cli(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[COMMAND [ARGUMENT]...]", help="One Redis command.", show_default=False),
    ] = None,
    url: Url = DEFAULT_URL,
    token: Token = None,
    token_file: TokenFile = None,
    *,
    raw: Annotated[
        bool | None,
        typer.Option(
            "--raw/--no-raw",
            help="Print bytes unchanged, or quoted and numbered. Default: quoted on a terminal only.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print replies as JSON, one per line.")] = False,
) -> None:
    r"""Send Redis commands and print replies as redis-cli does.

    With a COMMAND it sends that command. Without one it shows a prompt on a
    terminal (Tab completes, `help` lists the commands, Ctrl-C ends a waiting
    read), and in a pipe it runs the lines of standard input. Put options
    before the command.

    Exit status: 0; 1 if a reply is an error or the server does not answer; 2
    for wrong arguments.

    [bold]Examples[/bold]

      tailrace cli

      tailrace cli XADD race:france '*' rider Castilla speed 30.2

      tailrace cli --json XRANGE race:france - +

      printf 'PING\nXLEN race:france\n' | tailrace cli
    """
    printer = Printer(_form(raw, as_json=as_json), colour=_wants_colour())
    with connected(url, token, token_file) as server:
        session = Session(server)
        if words:
            printer.run(session, [os.fsencode(word) for word in words])
        elif sys.stdin.isatty():
            _converse(session, printer)
            return
        else:
            _run_lines(session, printer)
    if session.failures:
        raise typer.Exit(1)


def _converse(session: Session, printer: Printer) -> None:
    # Importing the prompt's libraries takes longer than running a single command.
    from tailrace.app.cli.redis.prompt import converse  # noqa: PLC0415

    converse(session, printer)


def _form(raw: bool | None, *, as_json: bool) -> Form:  # noqa: FBT001 - None: not given
    if as_json:
        if raw is not None:
            raise typer.BadParameter("--json and --raw/--no-raw exclude each other")
        return Form.JSON
    plain = not sys.stdout.isatty() if raw is None else raw
    return Form.RAW if plain else Form.FORMATTED


def _wants_colour() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _run_lines(session: Session, printer: Printer) -> None:
    """Run each line of standard input in order; an error reply does not stop the next line."""
    for line in sys.stdin.buffer:
        try:
            words = split_words(line)
        except Unbalanced as error:
            session.failures += 1
            typer.echo(str(error))
            continue
        if words and words[0].lower() in (b"quit", b"exit"):
            return
        if words:
            printer.run(session, words)
