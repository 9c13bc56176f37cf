"""The contexts file: `tailrace/contexts.json` in the XDG configuration directory, readable only by its owner.

It owns the form of the file. Each change replaces the file atomically, and a lock keeps two changes apart.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec

from tailrace.app.reasons import reason

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
