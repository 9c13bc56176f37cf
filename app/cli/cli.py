"""`tailrace cli`: sends Redis commands from a prompt, from arguments, or from standard input."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from types import ModuleType
from typing import Annotated, Final

import typer

from tailrace.app.cli.client_command import DEFAULT_URL, connected, on_server
from tailrace.app.cli.output import say
from tailrace.app.cli.redis.printing import BadCount, Form, Printer, rounds, run_line, run_words
from tailrace.app.cli.redis.quoting import Unbalanced, split_words
from tailrace.app.cli.redis.replies import Session

_STAT_INTERVAL_S: Final = 1.0


@on_server
def cli(  # noqa: PLR0913 - one parameter an option
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="COMMAND", help="One Redis command with its arguments.", show_default=False),
    ] = None,
    *,
    host: Annotated[
        str | None, typer.Option("-h", metavar="HOST", help="The server's host.", show_default=False)
    ] = None,
    port: Annotated[
        int | None,
        typer.Option("-p", min=1, max=65_535, metavar="PORT", help="The server's port.", show_default=False),
    ] = None,
    repeat: Annotated[
        int,
        typer.Option("-r", min=-1, metavar="COUNT", help="Run the command COUNT times; -1: until Ctrl-C."),
    ] = 1,
    interval_s: Annotated[
        float, typer.Option("-i", min=0, metavar="SECONDS", help="The pause of -r, --scan and --stat.")
    ] = 0,
    from_stdin: Annotated[
        bool, typer.Option("-x", help="The last argument is standard input, unchanged.")
    ] = False,
    scan_keys: Annotated[bool, typer.Option("--scan", help="Print all keys.")] = False,
    pattern: Annotated[
        str | None,
        typer.Option(metavar="PATTERN", help="--scan: only keys like 'race:*'.", show_default=False),
    ] = None,
    count: Annotated[
        int | None,
        typer.Option(min=1, metavar="COUNT", help="--scan: keys per request.", show_default=False),
    ] = None,
    show_stat: Annotated[
        bool, typer.Option("--stat", help="Print the state of the server every second.")
    ] = False,
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
    read), and in a pipe it runs the lines of standard input. At the prompt
    and in a pipe, `3 PING` runs PING three times. Put options before the
    command.

    Exit status: 0; 1 if a reply is an error or the server does not answer; 2
    for wrong arguments; 130 after Ctrl-C.

    [bold]Examples[/bold]

      tailrace cli

      tailrace cli XADD race:france '*' rider Castilla speed 30.2

      tailrace cli -h 10.0.0.7 -p 8080 -r 5 -i 1 XLEN race:france

      tailrace cli --json XRANGE race:france - +

      tailrace cli --scan --pattern 'race:*'

      printf 'PING\nXLEN race:france\n' | tailrace cli
    """
    form = _form(raw, as_json=as_json)
    given = _words(words, from_stdin=from_stdin)
    _check(given, pattern, count, scan_keys=scan_keys, show_stat=show_stat)
    with connected(_url(context, host, port)) as server:
        if show_stat:
            _watching().stat(server, -1 if repeat == 1 else repeat, interval_s or _STAT_INTERVAL_S)
            return
        if scan_keys:
            if not _watching().scan(server, pattern, count, interval_s, form):
                raise typer.Exit(1)
            return
        session = Session(server)
        printer = Printer(form, colour=_wants_colour())
        if given:
            for _ in rounds(repeat, interval_s):
                run_words(given, session, printer)
        elif sys.stdin.isatty():
            _converse(session, printer, interval_s)
            return
        else:
            _run_lines(session, printer, interval_s)
    if session.failures:
        raise typer.Exit(1)


def _words(words: list[str] | None, *, from_stdin: bool) -> list[bytes]:
    given = [os.fsencode(word) for word in words or ()]
    if not from_stdin:
        return given
    if not given:
        raise typer.BadParameter("-x needs a command: standard input becomes its last argument")
    return [*given, sys.stdin.buffer.read()]


def _check(
    given: list[bytes], pattern: str | None, count: int | None, *, scan_keys: bool, show_stat: bool
) -> None:
    """Reject options that contradict each other."""
    if scan_keys + show_stat + bool(given) > 1:
        raise typer.BadParameter("--scan, --stat and a command exclude each other")
    if not scan_keys and (pattern is not None or count is not None):
        raise typer.BadParameter("--pattern and --count need --scan; an option of a command comes after it")


def _url(context: typer.Context, host: str | None, port: int | None) -> str | None:
    """Return the URL of `-h` and `-p`; None without them."""
    if host is None and port is None:
        return None
    source = context.get_parameter_source("url")
    if source is not None and source.name == "COMMANDLINE":
        raise typer.BadParameter("-h and -p exclude --url")
    if host is None:
        host = "127.0.0.1"
    if ":" in host and not host.startswith("["):
        host = f"[{host}]"
    return f"http://{host}:{port or DEFAULT_URL.rpartition(':')[2]}"


def _watching() -> ModuleType:
    # Other uses of this command need no metrics.
    return import_module("tailrace.app.cli.observing.watching")


def _converse(session: Session, printer: Printer, interval_s: float) -> None:
    # Importing the prompt's libraries takes longer than running a single command.
    from tailrace.app.cli.redis.prompt import converse  # noqa: PLC0415

    converse(session, printer, interval_s)


def _form(raw: bool | None, *, as_json: bool) -> Form:  # noqa: FBT001 - None: not given
    if as_json:
        if raw is not None:
            raise typer.BadParameter("--json and --raw/--no-raw exclude each other")
        return Form.JSON
    plain = not sys.stdout.isatty() if raw is None else raw
    return Form.RAW if plain else Form.FORMATTED


def _wants_colour() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _run_lines(session: Session, printer: Printer, interval_s: float) -> None:
    """Run each line of standard input in order; an error reply does not stop the next line."""
    for line in sys.stdin.buffer:
        try:
            words = split_words(line)
            if words and words[0].lower() in (b"quit", b"exit"):
                return
            if words:
                run_line(words, session, printer, interval_s=interval_s)
        except (Unbalanced, BadCount) as error:
            session.failures += 1
            say(str(error))
