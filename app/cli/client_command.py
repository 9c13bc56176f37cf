"""What all commands that talk to a server share: the options for the server and the token, and the exit
status.

`on_server` marks such a command: it then has the options `--url`, `--context`, `--token` and `--token-file`
in addition to its own. `connected` connects it to the server that they name. The exit status is 0, 1 (failed)
or 2 (wrong arguments). Prefer a file or the environment for the token: all users of the machine can see
arguments.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, NoReturn, TypeVar

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup

from tailrace.app.cli import plain_flags
from tailrace.app.cli.output import note
from tailrace.app.reasons import reason

if TYPE_CHECKING:
    from tailrace.app.cli.server import Server

PORT_VARIABLE: Final = "TAILRACE_PORT"
DEFAULT_URL: Final = f"http://127.0.0.1:{os.environ.get(PORT_VARIABLE) or 8080}"
"""The server that `tailrace serve` starts with the same environment."""

_REMEDY: Final = "`tailrace serve` starts a server there, and --url names another one"
"""What to do if the default server does not answer: probably none was started."""

URL_VARIABLE: Final = "TAILRACE_URL"
TOKEN_VARIABLE: Final = "TAILRACE_TOKEN"  # noqa: S105 - the variable's name
INTERRUPTED: Final = 128 + signal.SIGINT

CommandT = TypeVar("CommandT", bound=Callable[..., None])


class Place(NamedTuple):
    """The server that the options of a command name."""

    url: str
    token: str | None
    token_file: Path | None


_place: Final = ContextVar[Place]("place")
"""The server of the running command."""


def on_server(command: CommandT) -> CommandT:
    """Mark a command that talks to a server."""
    command.is_on_server = True  # type: ignore[attr-defined]
    return command


class ClientCommand(TyperCommand):
    """A command. If `on_server` marks it, it has the options for a server."""

    def __init__(self, *arguments: Any, **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self._is_on_server = getattr(self.callback, "is_on_server", False)
        if self._is_on_server:
            own = [isinstance(parameter, TyperArgument) for parameter in self.params]
            at = own.index(False) if False in own else len(own)
            self.params[at:at] = _server_options()

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters as the help shows them."""
        return plain_flags(super().get_params(ctx))

    def invoke(self, ctx: Any) -> Any:
        """Run the command with the server that the options name."""
        if self._is_on_server:
            name = ctx.params.pop("context")
            given = {each: ctx.params.pop(each) for each in Place._fields}
            _place.set(Place(**{**given, **_overrides(ctx, name)}))
        return super().invoke(ctx)


class _Group(TyperGroup):
    """A command that has commands."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters as the help shows them."""
        return plain_flags(super().get_params(ctx))


def command_group(meaning: str) -> typer.Typer:
    """Return an application for commands of commands, such as `tailrace token create`."""
    return typer.Typer(
        cls=_Group,
        help=meaning,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def _names(incomplete: str) -> list[str]:
    contexts = import_module("tailrace.app.cli.contexts")
    try:
        return [name for name in contexts.load().contexts if name.startswith(incomplete)]
    except contexts.BadContexts:
        return []


def _declared(
    url: Annotated[str, typer.Option(metavar="URL", help="The server.", envvar=URL_VARIABLE)] = DEFAULT_URL,
    context: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The server and token of this context; see tailrace context.",
            envvar="TAILRACE_CONTEXT",
            autocompletion=_names,
            show_default=False,
        ),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            metavar="TOKEN",
            help="The token. Other users of this machine can see an argument; prefer --token-file.",
            envvar=TOKEN_VARIABLE,
            show_default=False,
        ),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A file with the token; overrides --token.",
            envvar="TAILRACE_TOKEN_FILE",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Declare the options."""


def _server_options() -> list[Any]:
    """Return the options as Typer makes them from a declaration."""
    declaring = typer.Typer(add_completion=False)
    declaring.command()(_declared)
    return typer.main.get_command(declaring).params


def _overrides(ctx: Any, name: str | None) -> Mapping[str, Any]:
    # Help and completion of commands need no contexts.
    contexts = import_module("tailrace.app.cli.contexts")
    try:
        found: dict[str, Any] = contexts.overrides(ctx, name)
    except contexts.BadContexts as error:
        fail(str(error))
    if found.get("token_file"):
        found["token_file"] = Path(found["token_file"])
    return found


# --- the server ------------------------------------------------------------------------------------


def place() -> Place:
    """Return the server that the options of the running command name."""
    return _place.get()


@contextmanager
def connected(url: str | None = None) -> Iterator[Server]:
    """Connect the running command to its server, or to `url`, for the duration of the context.

    A `ServerProblem` ends the command with one line and status 1. Ctrl-C ends it with status 130.
    """
    # Help needs no client.
    from tailrace.app.cli.server import MISREAD, Server, ServerProblem, Unreachable, misread  # noqa: PLC0415

    named = place()
    url = url or named.url
    server = Server(checked_url(url), secret_from(named.token, named.token_file))
    try:
        with server, quiet_pipes():
            yield server
    except Unreachable as error:
        fail(f"{error}; {_REMEDY}" if url == DEFAULT_URL else str(error))
    except ServerProblem as error:
        fail(str(error))
    except MISREAD as error:
        if not server.has_answered:
            raise
        fail(f"{server.url} gave an answer that is not one of Tailrace: {misread(error)}; is the URL right?")
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None


def fail(sentence: str) -> NoReturn:
    """Print `sentence` to standard error and exit with status 1."""
    note(sentence)
    raise typer.Exit(1) from None


def checked_url(url: str) -> str:
    """Return `url`, with `http://` if it has no scheme.

    Raises `typer.BadParameter` if it is not an HTTP URL.
    """
    if "://" not in url:
        url = f"http://{url}"
    import httpx  # noqa: PLC0415 - see `connected`

    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise typer.BadParameter(f"--url: {error}") from None
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise typer.BadParameter(f"--url: {url!r} is not a URL like {DEFAULT_URL}")
    return url


def secret_from(token: str | None, token_file: Path | None) -> str | None:
    """Return the token, or the content of the file if there is one. Exits with status 1 or 2 if it is
    invalid."""
    if token_file is not None:
        try:
            token = token_file.read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            why = reason(error) if isinstance(error, OSError) else "not text"
            fail(f"cannot read the token file {token_file}: {why}")
    if token is not None and not (token.isascii() and token.isprintable() and token.strip()):
        raise typer.BadParameter(
            "the token is empty or has invalid characters: use printable ASCII characters"
        )
    return token


@contextmanager
def quiet_pipes() -> Iterator[None]:
    """If the reader of our output exits (`| head`), end by SIGPIPE and without a message, as filters do."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGPIPE)
