"""The server that the driver and the tasks connect to: its URLs, the token, the certificates and the timeout.

Spark sends an `Endpoint` from the driver to the tasks. The clients are created in each Python worker and live
as long as the worker, so that consecutive tasks use the same connections. This module never retries a
request: the code that sends the request decides that.

A token that is given directly travels inside the serialised task. Spark shows it nowhere, but anyone who can
read the traffic between the driver and the executors can read it. If an environment variable or a file is
named instead, only that name travels, and each task reads the token on its own machine. The token never
appears in a repr, a query plan, an error or a log.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from ssl import SSLContext, create_default_context
from urllib.parse import urlsplit

from tailrace_client import NO_RETRIES, RetryPolicy, Tailrace
from tailrace_spark.errors import BadOption

CLIENTS_KEPT = 16
"""More clients than one process uses at a time, with a token that changes now and then."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address of a server and the way to connect to it.

    `urls`: the URL of one server, or the URLs of several servers that serve the same streams. `token`: where
    the token comes from. `timeout_s`: the time limit for each step of one request. `ca_file`: the path of a
    PEM file on the machine of the task; its certificates replace the trusted certificates of that machine.
    """

    urls: tuple[str, ...]
    token: TokenSource
    timeout_s: float
    ca_file: str | None = None

    def client(self, turn: int = 0, retry: RetryPolicy = NO_RETRIES) -> Tailrace:
        """Return a client for the URL number `turn`; counting starts again after the last URL. The token is
        read where this method is called."""
        url = self.urls[turn % len(self.urls)]
        return _client(url, self.token.read(), self.timeout_s, self.ca_file, retry)


def urls_of(value: str | Sequence[str]) -> tuple[str, ...]:
    """Return the URLs in `value`: one URL, several URLs separated by commas, or a sequence of URLs. Raises
    `BadOption`."""
    given = value.split(",") if isinstance(value, str) else list(value)
    urls = tuple(_checked(str(each).strip()) for each in given)
    if not urls:
        raise BadOption("url: the list is empty; pass at least one URL, such as http://tailrace:8080")
    return urls


def _checked(url: str) -> str:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise _bad_url(url) from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise _bad_url(url)
    if parts.username or parts.password or parts.query:
        raise BadOption(
            "url: it contains a user, a password or a query; remove them, and pass a token with its "
            "own option"
        )
    return url.rstrip("/")


def _bad_url(url: str) -> BadOption:
    """Return the error for an invalid URL; its text contains no user, password or query."""
    shown = url.partition("?")[0].rpartition("@")[2]
    return BadOption(f"url: {shown!r} is not a valid URL; use http://host:port or https://host:port")


@lru_cache(CLIENTS_KEPT)
def _client(
    url: str, token: str | None, timeout_s: float, ca_file: str | None, retry: RetryPolicy
) -> Tailrace:
    return Tailrace(url, token, timeout_s=timeout_s, retry=retry, verify=_verify(ca_file))


def _verify(ca_file: str | None) -> SSLContext | bool:
    try:
        return True if ca_file is None else create_default_context(cafile=ca_file)
    except OSError as error:
        raise BadOption(
            f"ca_file: {ca_file} cannot be read where the task runs ({type(error).__name__}); put a PEM "
            "file there"
        ) from None


# --- the token --------------------------------------------------------------------------------------------


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
