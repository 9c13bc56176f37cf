"""Where the token comes from, and that nobody reads it on the way.

Given directly, the token travels inside the serialised task: Spark shows that nowhere, and whoever can read
the traffic between driver and executors can read it. Named by environment variable or file, only the name
travels, and each task reads the token where it runs. It never stands in a repr, a query plan, an error or a
log.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from tailrace_spark.errors import BadOption


@dataclass(frozen=True, slots=True)
class TokenSource:
    """At most one of the three is given; without any, requests carry no token."""

    token: str | None = field(default=None, repr=False)
    token_env: str | None = None
    token_file: str | None = None

    def __post_init__(self) -> None:
        given = [name for name in ("token", "token_env", "token_file") if getattr(self, name) is not None]
        if len(given) > 1:
            raise BadOption(f"{' and '.join(given)}: give the token in one way only")

    def read(self) -> str | None:
        """The token, read where this runs. Raises `BadOption` where the variable or the file is missing."""
        if self.token_env is not None:
            return _from_environment(self.token_env)
        if self.token_file is not None:
            return _from_file(self.token_file)
        return self.token


def _from_environment(name: str) -> str:
    found = os.environ.get(name, "").strip()
    if not found:
        raise BadOption(
            f"token_env: {name} is not set where the task runs (spark.executorEnv.{name} sets it)"
        )
    return found


def _from_file(path: str) -> str:
    try:
        found = Path(path).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadOption(f"token_file: {path}: {type(error).__name__} where the task runs") from None
    if not found:
        raise BadOption(f"token_file: {path} is empty where the task runs")
    return found
