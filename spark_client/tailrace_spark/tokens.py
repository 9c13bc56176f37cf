"""Read the token where it is needed, and keep it out of every other place.

A token that is given directly travels inside the serialised task. Spark shows it nowhere, but anyone who can
read the traffic between the driver and the executors can read it. If an environment variable or a file is
named instead, only that name travels, and each task reads the token on its own machine. The token never
appears in a repr, a query plan, an error or a log.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from tailrace_spark.errors import BadOption


@dataclass(frozen=True, slots=True)
class TokenSource:
    """The place that a token is read from. At most one of the three fields is set; if none is set, requests
    carry no token."""

    token: str | None = field(default=None, repr=False)
    token_env: str | None = None
    token_file: str | None = None

    def __post_init__(self) -> None:
        given = [name for name in ("token", "token_env", "token_file") if getattr(self, name) is not None]
        if len(given) > 1:
            raise BadOption(f"{' and '.join(given)}: only one of them can be set")

    def read(self) -> str | None:
        """Return the token, read on the machine that calls this. Raises `BadOption` if the variable or the
        file is missing."""
        if self.token_env is not None:
            return _from_environment(self.token_env)
        if self.token_file is not None:
            return _from_file(self.token_file)
        return self.token


def _from_environment(name: str) -> str:
    found = os.environ.get(name, "").strip()
    if not found:
        raise BadOption(
            f"token_env: the variable {name} is not set where the task runs; set it on the "
            f"driver, and with spark.executorEnv.{name}"
        )
    return found


def _from_file(path: str) -> str:
    try:
        found = Path(path).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadOption(
            f"token_file: {path} cannot be read where the task runs ({type(error).__name__}); "
            "put the file on every machine"
        ) from None
    if not found:
        raise BadOption(f"token_file: {path} is empty where the task runs; write the token to it")
    return found
