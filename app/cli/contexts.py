"""Contexts: named servers with their tokens. The file, and the choice of the server of a command.

The file is `tailrace/contexts.json` in the XDG configuration directory, readable only by its owner. Each
change replaces the file atomically, and a lock keeps two changes apart.

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

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import typer

from tailrace.app.cli.client_command import PORT_VARIABLE, URL_VARIABLE
from tailrace.app.reasons import reason

CONTEXT_VARIABLE: Final = "TAILRACE_CONTEXT"

_SERVER_ARGUMENTS: Final = ("url", "host", "port")
_TOKEN_ARGUMENTS: Final = ("token", "token_file")
FILE_MODE: Final = 0o600
DIRECTORY_MODE: Final = 0o700


class BadContexts(Exception):
    """The contexts file cannot be used, or a context does not exist. The text is for the user."""


class Context(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One server. `token_file` and `token_variable` say where its token is; at most one of them is given."""

    url: str
    token_file: str | None = None
    token_variable: str | None = None

    @property
    def token_place(self) -> str | None:
        """Return in words where the token is; None without a token."""
        if self.token_file is not None:
            return f"file {self.token_file}"
        return None if self.token_variable is None else f"variable {self.token_variable}"


class Contexts(msgspec.Struct, forbid_unknown_fields=True):
    """The content of the file. `current`: the name of the context that `use` chose."""

    current: str | None = None
    contexts: dict[str, Context] = {}

    def get(self, name: str) -> Context:
        """Return the context `name`. Raises `BadContexts`."""
        if name not in self.contexts:
            known = ", ".join(sorted(self.contexts)) or "none; add one with tailrace context add"
            raise BadContexts(f"there is no context {name!r}; the contexts are: {known}")
        return self.contexts[name]


def contexts_path() -> Path:
    """Return the path of the file. It need not exist."""
    configuration = os.environ.get("XDG_CONFIG_HOME")
    # A relative path is invalid by the specification, and must be ignored.
    is_valid = configuration is not None and Path(configuration).is_absolute()
    base = Path(configuration or "") if is_valid else Path.home() / ".config"
    return base / "tailrace" / "contexts.json"


def load() -> Contexts:
    """Return the contexts; empty if the file does not exist. Raises `BadContexts`."""
    path = contexts_path()
    try:
        return msgspec.json.decode(path.read_bytes(), type=Contexts)
    except FileNotFoundError:
        return Contexts()
    except OSError as error:
        raise BadContexts(f"cannot read the contexts in {path}: {reason(error)}") from None
    except msgspec.DecodeError as error:
        raise BadContexts(f"{path} is damaged ({error}): correct it, or delete it to start again") from None


@contextmanager
def changing() -> Iterator[Contexts]:
    """Yield the contexts for changes; the file is replaced if the context ends without an error.

    Raises `BadContexts`.
    """
    # The module of the tokens file loads the server's types, which a client does not need otherwise.
    from tailrace.app.tokens.file import write_privately  # noqa: PLC0415

    path = contexts_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=DIRECTORY_MODE)
        lock = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            contexts = load()
            yield contexts
            content = msgspec.json.format(msgspec.json.encode(contexts), indent=2)
            write_privately(path, content + b"\n")
        finally:
            os.close(lock)
    except OSError as error:
        raise BadContexts(f"cannot write the contexts to {path}: {reason(error)}") from None


# --- the choice ------------------------------------------------------------------------------------


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
    if os.environ.get(URL_VARIABLE):
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
