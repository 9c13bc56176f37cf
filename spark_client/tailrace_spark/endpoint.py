"""Which server is spoken to, and as whom: what travels from the driver to the tasks, and the client made
there.

It owns URLs, token, the certificate authority and the timeout of one request. Clients live as long as the
Python worker: tasks that follow each other use the same connections. Whether a failed request is sent again
is decided where it is sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from ssl import SSLContext, create_default_context
from urllib.parse import urlsplit

from tailrace_client import NO_RETRIES, RetryPolicy, Tailrace
from tailrace_spark.errors import BadOption
from tailrace_spark.tokens import TokenSource

CLIENTS_KEPT = 16
"""More than one process speaks to at a time, with a token that changes now and then."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`urls`: of one server, or of several that stand before the same streams. `timeout_s`: of each step of
    one request. `ca_file`: certificates to trust in place of the machine's, where the task runs."""

    urls: tuple[str, ...]
    token: TokenSource
    timeout_s: float
    ca_file: str | None = None

    def client(self, turn: int = 0, retry: RetryPolicy = NO_RETRIES) -> Tailrace:
        """A client of the `turn`-th URL, counted round; the token is read where this is called."""
        url = self.urls[turn % len(self.urls)]
        return _client(url, self.token.read(), self.timeout_s, self.ca_file, retry)


def urls_of(value: str | Sequence[str]) -> tuple[str, ...]:
    """The URLs in `value`: one, several separated by commas, or a sequence. Raises `BadOption`."""
    given = value.split(",") if isinstance(value, str) else list(value)
    urls = tuple(_checked(str(each).strip()) for each in given)
    if not urls:
        raise BadOption("url: at least one is needed")
    return urls


def _checked(url: str) -> str:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise BadOption(f"url: {_without_secrets(url)!r} is none") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadOption(
            f"url: http://host:port or https://host:port is needed, not {_without_secrets(url)!r}"
        )
    if parts.username or parts.password or parts.query:
        raise BadOption("url: no user, password or query may stand in it; a token has its own options")
    return url.rstrip("/")


def _without_secrets(url: str) -> str:
    return url.partition("?")[0].rpartition("@")[2]


@lru_cache(CLIENTS_KEPT)
def _client(
    url: str, token: str | None, timeout_s: float, ca_file: str | None, retry: RetryPolicy
) -> Tailrace:
    return Tailrace(url, token, timeout_s=timeout_s, retry=retry, verify=_verify(ca_file))


def _verify(ca_file: str | None) -> SSLContext | bool:
    try:
        return True if ca_file is None else create_default_context(cafile=ca_file)
    except OSError as error:
        raise BadOption(f"ca_file: {ca_file}: {type(error).__name__} where the task runs") from None
