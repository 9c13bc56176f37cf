"""A server as the commands see it: requests over the session of the SDK, and each failure as one sentence.

It owns the texts for an unreachable server and for a rejected request, and how keys become paths. It never
prints and never retries: only the caller knows whether a retry is safe.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, Self
from urllib.parse import quote_from_bytes

import httpx
import msgspec

from tailrace.app import __version__
from tailrace.core.errors import StreamError
from tailrace.core.limits import WAIT_MS_MAX
from tailrace_client.call import Answer, Call
from tailrace_client.errors import ANSWER_LOST, NOT_CONNECTED, TailraceError
from tailrace_client.retry import RetryPolicy
from tailrace_client.session import CONNECTIONS_MAX, Session, Settings

READ_TIMEOUT_S: Final = WAIT_MS_MAX / 1000 + 30
"""Longer than the longest blocking read that the server allows."""

RETRY: Final = RetryPolicy(deadline_s=15.0, first_delay_s=0.2)
"""For exports and imports, whose requests can be repeated: long enough for a restart of the server."""

_LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
_UNAUTHORIZED: Final = 401
_FORBIDDEN: Final = 403


MISREAD: Final = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RecursionError,
    StreamError,
    TypeError,
    ValueError,
    httpx.DecodingError,
    msgspec.MsgspecError,
)
"""The exceptions of reading a reply that has another form than those of Tailrace."""


def misread(error: Exception) -> str:
    """Return in words what is wrong with the reply. `error` is one of `MISREAD`."""
    return f"{type(error).__name__}: {error}"


class ServerProblem(Exception):
    """A failure that ends the command. The text is one sentence for the user."""


class Unreachable(ServerProblem):
    """No response arrived. The request may or may not have taken effect."""


class RefusedByServer(ServerProblem):
    """The server responded with an error status.

    `problem` has the members of the problem document (RFC 9457); it is empty if the body is not one. `code`:
    the stable name of the error; empty if the response has none, for example from a proxy.
    `is_worth_repeating`: whether the same request can succeed later.
    """

    def __init__(self, status: int, problem: Mapping[str, Any], *, is_worth_repeating: bool = False) -> None:
        self.status = status
        self.problem = problem
        self.is_worth_repeating = is_worth_repeating
        self.code = str(problem.get("code", ""))
        self.detail = str(problem.get("detail") or problem.get("title") or f"HTTP status {status}")
        super().__init__(_sentence(status, self.code, self.detail))


_ADVICE: Final = {
    "NO_SUCH_STREAM": "its first entry creates it: `tailrace append KEY FIELD=VALUE`",
    "NOGROUP": "create it with `tailrace group create KEY GROUP --create-stream`",
    "BUSYGROUP": "move it with `tailrace group seek`, or delete it first with `tailrace group delete`",
    "CONSUMER_HAS_PENDING": "hand them to another consumer with --transfer-to, or drop them with --force",
    "ID_NOT_GREATER": "give a greater one, or omit --id to let the server choose it",
}
"""What to do about a refusal, in words of the command line; the server's advice, after a semicolon, is in
those of HTTP."""


def _sentence(status: int, code: str, detail: str) -> str:
    if code in _ADVICE:
        detail = f"{detail.partition('; ')[0]}; {_ADVICE[code]}"
    if status == _UNAUTHORIZED:
        return f"the server requires a token ({detail}): set --token-file, --token or TAILRACE_TOKEN"
    if status == _FORBIDDEN:
        return f"the token does not allow this: {detail}"
    return f"the server refused: {detail} ({code or status})"


class Server:
    """A client of the server at `url`. As a context manager, it closes its connections at the end.

    `timeout_s` limits connecting and each wait for data. `session`: the session of the SDK, for calls that
    `problems` encloses.
    """

    def __init__(self, url: str, token: str | None = None, timeout_s: float = READ_TIMEOUT_S) -> None:
        self.url = url.rstrip("/")
        self.token = token
        # A proxy from the environment does not apply to this machine.
        uses_proxies = httpx.URL(self.url).host not in _LOOPBACK
        self.session = Session(
            Settings(
                self.url,
                token,
                timeout_s,
                RETRY,
                CONNECTIONS_MAX,
                verify=True,
                producer_id="",
                uses_proxies=uses_proxies,
            )
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.session.close()

    @property
    def has_answered(self) -> bool:
        """Return whether the server has ever responded."""
        return self.session.contact.is_made

    @property
    def address(self) -> str:
        """Return host and port, as a prompt shows them."""
        return httpx.URL(self.url).netloc.decode()

    def request(
        self,
        method: str,
        path: str,
        *,
        body: object = None,
        content: bytes | None = None,
        parameters: Sequence[tuple[str, str]] = (),
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send one request and return its complete response. `body` is sent as JSON, `content` unchanged.

        Raises `Unreachable` or `RefusedByServer`.
        """
        sent = dict(headers or {})
        if body is not None:
            content = _json(body)
            sent["Content-Type"] = "application/json"
        request = {**request_of(method, path, parameters, sent), "content": content}
        with self.problems():
            return self.session.attempt(Call(request, _whole))

    @contextmanager
    def problems(self) -> Iterator[None]:
        """Turn the errors of the SDK into `Unreachable` and `RefusedByServer`."""
        try:
            yield
        except TailraceError as error:
            raise self._problem(error) from None

    def _problem(self, error: TailraceError) -> ServerProblem:
        if error.code not in {NOT_CONNECTED, ANSWER_LOST}:
            return RefusedByServer(error.status, error.problem, is_worth_repeating=error.retryable)
        if isinstance(error.__cause__, httpx.TimeoutException):
            return Unreachable(f"{self.url} did not answer in time")
        if error.__cause__ is None:
            return Unreachable(f"{self.url} ended the tail")
        return Unreachable(f"cannot reach {self.url}: {_reason(error.__cause__)}")


def _whole(answer: Answer) -> Answer:
    return answer


def request_of(
    method: str,
    path: str,
    parameters: Sequence[tuple[str, str]] = (),
    headers: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return a request for the session of the SDK."""
    identified = {"User-Agent": f"tailrace/{__version__}", **(headers or {})}
    return {"method": method, "url": path + _query(parameters), "headers": identified}


def _json(body: object) -> bytes:
    """Encode a body. Raises `ServerProblem` for an argument that is not text."""
    try:
        return msgspec.json.encode(body)
    except UnicodeEncodeError as error:
        raise ServerProblem(f"the argument {error.object!a} is not UTF-8; nothing was sent") from None


def _reason(error: BaseException) -> str:
    """Return the text of the operating system's error in lower case, without its number."""
    cause: BaseException = error
    while True:
        if isinstance(cause, OSError) and cause.errno and cause.errno > 0:
            return os.strerror(cause.errno).lower()
        deeper = cause.__cause__ or cause.__context__
        if deeper is None:
            return str(cause) or "the connection was lost"
        cause = deeper


def _query(parameters: Sequence[tuple[str, str]]) -> str:
    """Build the query string. httpx cannot encode names that are not UTF-8, and keys may contain any byte."""
    pairs = [f"{name}={escaped(os.fsencode(value))}" for name, value in parameters]
    return f"?{'&'.join(pairs)}" if pairs else ""


def escaped(name: bytes) -> str:
    """Return `name` as one path segment. Dots are escaped too: clients remove the segments `.` and `..`."""
    return quote_from_bytes(name, safe="").replace(".", "%2E")


def stream_path(key: bytes, rest: str = "") -> str:
    """Return the path of the stream `key`, followed by `rest`."""
    return f"/v1/streams/{escaped(key)}{rest}"
