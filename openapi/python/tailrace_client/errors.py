"""The exception for every failure between a program and the server.

This module owns the conversion of problem documents (RFC 9457) and of failed connections. `retry` decides
whether to try again, from `retryable`, `side_effects` and `retry_after_s`.
"""

from __future__ import annotations

import math
from base64 import b64decode
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from json import JSONDecodeError
from typing import Any, Final, Literal

import httpx

SideEffects = Literal["none", "unknown"]

PROBLEM_MEDIA_TYPE: Final = "application/problem+json"
NOT_CONNECTED: Final = "NOT_CONNECTED"
ANSWER_LOST: Final = "ANSWER_LOST"
UNEXPECTED_ANSWER: Final = "UNEXPECTED_ANSWER"
INVALID_ARGUMENT: Final = "INVALID_ARGUMENT"
COMMAND_FAILED: Final = "COMMAND_FAILED"

MISSING_ENTRY: Final = frozenset({"NO_SUCH_ENTRY", "NO_SUCH_STREAM"})
"""The codes for an entry or a stream that does not exist."""

_TRANSIENT: Final = frozenset(
    {
        HTTPStatus.TOO_MANY_REQUESTS,
        HTTPStatus.BAD_GATEWAY,
        HTTPStatus.SERVICE_UNAVAILABLE,
        HTTPStatus.GATEWAY_TIMEOUT,
    }
)


class TailraceError(Exception):
    """A request failed.

    `code`: a stable code that the server documents (`NOGROUP`, `ID_NOT_GREATER`, ...), or one of the client's
    own: `NOT_CONNECTED` (nothing was sent), `ANSWER_LOST` (the request was sent, but its response did not
    arrive completely), `UNEXPECTED_ANSWER` (the response is not from a Tailrace server, but for example the
    page of a proxy), `INVALID_ARGUMENT` (the fields of an entry cannot be sent). `status`: the HTTP status;
    0 if there was no response. `retryable`: whether the same request can succeed later, unchanged.
    `side_effects`: "none" if nothing was changed, "unknown" if the request may have taken effect.

    `key`, `group`, `consumer`, `id`: the stream, group, consumer and entry that the error concerns, or None.
    Names are str, or bytes if they are not UTF-8. `last_id`, `first_id`: the ids of the stream, if the
    program needs them to continue. `errors`: each invalid part of the request. `problem`: all members of the
    server's problem document; empty if there was none.
    """

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        status: int = 0,
        retryable: bool = False,
        side_effects: SideEffects = "none",
        retry_after_s: float | None = None,
        problem: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail
        self.status = status
        self.retryable = retryable
        self.side_effects: SideEffects = side_effects
        self.retry_after_s = retry_after_s
        self.problem = problem or {}

    @property
    def request_id(self) -> str | None:
        """Return the id of the request in the server's log."""
        return self.problem.get("request_id")

    @property
    def key(self) -> str | bytes | None:
        """Return the key of the stream that the error concerns."""
        return self._name("key")

    @property
    def group(self) -> str | bytes | None:
        """Return the consumer group that the error concerns."""
        return self._name("group")

    @property
    def consumer(self) -> str | bytes | None:
        """Return the consumer that the error concerns."""
        return self._name("consumer")

    @property
    def id(self) -> str | None:
        """Return the id of the entry that the error concerns."""
        return self.problem.get("id")

    def _name(self, member: str) -> str | bytes | None:
        name: str | None = self.problem.get(member)
        if name is None or self.problem.get("encoding") != "base64":
            return name
        return b64decode(name)

    @property
    def last_id(self) -> str | None:
        """Return the last id of the stream, if the program needs it to continue."""
        return self.problem.get("last_id")

    @property
    def first_id(self) -> str | None:
        """Return the first id of the stream, if the program needs it to continue."""
        return self.problem.get("first_id")

    @property
    def errors(self) -> Sequence[Mapping[str, Any]]:
        """Return each invalid part of the body or the parameters, with its place."""
        return self.problem.get("errors") or ()


def error_of_answer(response: httpx.Response) -> TailraceError:
    """Return the error for an unsuccessful response. The body of the response must be read already."""
    if response.headers.get("content-type", "").partition(";")[0] != PROBLEM_MEDIA_TYPE:
        return _unexpected(response)
    try:
        problem = response.json()
    except (JSONDecodeError, UnicodeDecodeError):
        return _unexpected(response)
    return error_of_problem(problem, _retry_after_s(response))


def error_of_problem(problem: Mapping[str, Any], retry_after_s: float | None = None) -> TailraceError:
    """Return the error for a problem document, from a response or from the last event of a tail."""
    return TailraceError(
        problem.get("code", UNEXPECTED_ANSWER),
        problem.get("detail", ""),
        status=problem.get("status", 0),
        retryable=problem.get("retryable", False),
        side_effects=problem.get("side_effects", "unknown"),
        retry_after_s=retry_after_s,
        problem=problem,
    )


def error_of_transport(error: httpx.TransportError, url: str = "the server") -> TailraceError:
    """Return the error for a failed connection to `url`. It says whether the request can have arrived."""
    reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout | httpx.ProxyError):
        return TailraceError(NOT_CONNECTED, f"cannot connect to {url}: {reason}", retryable=True)
    if isinstance(error, httpx.UnsupportedProtocol | httpx.LocalProtocolError):
        return TailraceError(NOT_CONNECTED, f"cannot send a request to {url}: {reason}")
    return TailraceError(
        ANSWER_LOST, f"lost the response of {url}: {reason}", retryable=True, side_effects="unknown"
    )


def _unexpected(response: httpx.Response) -> TailraceError:
    """Return the error for a response without a problem document: from a proxy, or from another server than
    Tailrace."""
    shown = response.content[:200].decode("utf-8", "backslashreplace")
    return TailraceError(
        UNEXPECTED_ANSWER,
        f"{response.request.method} {response.request.url.path}: HTTP {response.status_code}: {shown}",
        status=response.status_code,
        retryable=response.status_code in _TRANSIENT,
        side_effects="unknown",
        retry_after_s=_retry_after_s(response),
    )


def _retry_after_s(response: httpx.Response) -> float | None:
    """Return the seconds of Retry-After. The server never sends the other form, a date."""
    try:
        seconds = float(response.headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if seconds >= 0 and math.isfinite(seconds) else None
