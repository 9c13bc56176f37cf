"""Sends the requests of the command line over HTTP and describes each failure in one sentence.

It owns the connection, the token, and the texts for an unreachable server and for a rejected request. It
never prints and never retries: only the caller knows whether a retry is safe.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import quote_from_bytes

import httpx
import msgspec

from tailrace.app import __version__
from tailrace.core.errors import StreamError
from tailrace.core.limits import WAIT_MS_MAX

CONNECT_TIMEOUT_S: Final = 5.0
READ_TIMEOUT_S: Final = WAIT_MS_MAX / 1000 + 30
"""Longer than the longest blocking read that the server allows."""

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

    `problem` has the members of the problem document (RFC 9457); it is empty if the body is not one.
    """

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status = status
        self.problem = problem
        self.detail = str(problem.get("detail") or problem.get("title") or f"HTTP status {status}")
        super().__init__(_sentence(status, self.code, self.detail))

    @property
    def code(self) -> str:
        """Return the stable name of the error; empty if the response has none, for example from a proxy."""
        return str(self.problem.get("code", ""))

    @property
    def is_worth_repeating(self) -> bool:
        """Return whether the same request can succeed later."""
        return bool(self.problem.get("retryable", False))


def _sentence(status: int, code: str, detail: str) -> str:
    if status == _UNAUTHORIZED:
        return f"the server requires a token ({detail}): set --token-file, --token or TAILRACE_TOKEN"
    if status == _FORBIDDEN:
        return f"the token does not allow this: {detail}"
    return f"the server refused: {detail} ({code or status})"


class Server:
    """A client of the server at `url`. As a context manager, it closes its connection at the end."""

    def __init__(self, url: str, token: str | None = None) -> None:
        self.url = url.rstrip("/")
        self.token = token
        self.has_answered = False
        headers = {"User-Agent": f"tailrace/{__version__}"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        self._client = httpx.Client(
            base_url=self.url,
            headers=headers,
            timeout=httpx.Timeout(READ_TIMEOUT_S, connect=CONNECT_TIMEOUT_S),
            # A proxy from the environment does not apply to this machine.
            trust_env=httpx.URL(self.url).host not in _LOOPBACK,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

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
        timeout_s: float = READ_TIMEOUT_S,
    ) -> httpx.Response:
        """Send one request and return its complete response.

        `body` is sent as JSON, `content` unchanged. `timeout_s` limits connecting and each wait for data.
        Raises `Unreachable` or `RefusedByServer`.
        """
        given = dict(headers or {})
        if body is not None:
            content = _json(body)
            given["Content-Type"] = "application/json"
        with self._transport_errors():
            response = self._client.request(
                method,
                path + _query(parameters),
                content=content,
                headers=given,
                timeout=httpx.Timeout(timeout_s, connect=min(timeout_s, CONNECT_TIMEOUT_S)),
            )
            self.has_answered = True
            return _accepted(response)

    @contextmanager
    def stream(
        self,
        path: str,
        parameters: Sequence[tuple[str, str]] = (),
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[httpx.Response]:
        """Send a GET request and yield its response, whose body the caller reads as it arrives.

        Raises `RefusedByServer`, or `Unreachable` if the connection fails or breaks.
        """
        with (
            self._transport_errors(),
            self._client.stream("GET", path + _query(parameters), headers=dict(headers or {})) as response,
        ):
            self.has_answered = True
            if response.is_error:
                response.read()
            yield _accepted(response)

    @contextmanager
    def _transport_errors(self) -> Iterator[None]:
        try:
            yield
        except httpx.TimeoutException:
            raise Unreachable(f"{self.url} did not answer in time") from None
        except httpx.TransportError as error:
            raise Unreachable(f"cannot reach {self.url}: {_reason(error)}") from None


def _json(body: object) -> bytes:
    """Encode a body. Raises `ServerProblem` for an argument that is not text."""
    try:
        return msgspec.json.encode(body)
    except UnicodeEncodeError as error:
        raise ServerProblem(f"the argument {error.object!a} is not UTF-8; nothing was sent") from None


def _reason(error: BaseException) -> str:
    """Return the text of the operating system's error in lower case, without its number."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno and cause.errno > 0:
            return os.strerror(cause.errno).lower()
        cause = cause.__cause__ or cause.__context__
    return str(error) or "the connection was lost"


def _accepted(response: httpx.Response) -> httpx.Response:
    if response.is_success:
        return response
    try:
        problem = msgspec.json.decode(response.content, type=dict[str, Any])
    except msgspec.DecodeError:
        problem = {}
    raise RefusedByServer(response.status_code, problem)


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
