"""The one table from what can go wrong to what a client is told (RFC 9457), and how it is written.

It owns codes, statuses, titles and the shape of a problem. It never decides that something is wrong:
the engine and the request readers raise, `api.http.problem_handlers` catches, this module writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
from starlette.responses import Response
from starlette.types import Scope

from tailrace.api.name_members import named
from tailrace.api.ports import StoreUnavailable, Unauthenticated
from tailrace.api.problems.refusal_texts import human_text, rest_text
from tailrace.core.errors import ErrorCode, StreamError

PROBLEM_MEDIA_TYPE: Final = "application/problem+json"


PROBLEM_PAGES: Final = "/problems/"
"""Where the server explains each code; `type` of a problem is the address of its page."""


class HttpCode(StrEnum):
    """What can be wrong with a request before the engine sees it."""

    MALFORMED_BODY = "MALFORMED_BODY"
    BODY_MISMATCH = "BODY_MISMATCH"
    BODY_TOO_LARGE = "BODY_TOO_LARGE"
    URL_TOO_LONG = "URL_TOO_LONG"
    HEAD_TOO_LARGE = "HEAD_TOO_LARGE"
    REQUEST_TIMEOUT = "REQUEST_TIMEOUT"
    RATE_LIMITED = "RATE_LIMITED"
    TOO_MANY_OPEN = "TOO_MANY_OPEN"
    INVALID_PARAMETER = "INVALID_PARAMETER"
    INVALID_NAME = "INVALID_NAME"
    NO_SUCH_ENTRY = "NO_SUCH_ENTRY"
    NOT_FOUND = "NOT_FOUND"
    METHOD_NOT_ALLOWED = "METHOD_NOT_ALLOWED"
    NOT_ACCEPTABLE = "NOT_ACCEPTABLE"
    UNSUPPORTED_MEDIA_TYPE = "UNSUPPORTED_MEDIA_TYPE"
    TRANSACTION_ABORTED = "TRANSACTION_ABORTED"
    NOT_ACCEPTING = "NOT_ACCEPTING"
    BAD_REQUEST = "BAD_REQUEST"
    UNAUTHENTICATED = "UNAUTHENTICATED"
    TOKEN_IN_URL = "TOKEN_IN_URL"  # noqa: S105 - a code
    ORIGIN_NOT_ALLOWED = "ORIGIN_NOT_ALLOWED"
    HOST_NOT_ALLOWED = "HOST_NOT_ALLOWED"
    UPGRADE_REQUIRED = "UPGRADE_REQUIRED"
    NOT_IMPLEMENTED = "NOT_IMPLEMENTED"
    HTTP_VERSION_NOT_SUPPORTED = "HTTP_VERSION_NOT_SUPPORTED"
    INTERNAL = "INTERNAL"


ProblemCode: TypeAlias = ErrorCode | HttpCode

DEFECT: Final = "the server failed; the log names the request"
"""All that is told of an error of the server's own."""


class Kind(NamedTuple):
    """A row of the table. `retryable`: the same request can succeed later, unchanged."""

    status: int
    title: str
    retryable: bool = False


KINDS: Final[Mapping[ProblemCode, Kind]] = {
    ErrorCode.INVALID_ID: Kind(400, "Not an entry id"),
    ErrorCode.ID_NOT_GREATER: Kind(409, "The id is not greater than the stream's last id"),
    ErrorCode.ID_EXHAUSTED: Kind(409, "The stream has used the last possible id"),
    ErrorCode.INVALID_ARGUMENT: Kind(400, "An argument is not valid"),
    ErrorCode.NOT_AN_INTEGER: Kind(400, "An argument is not an integer"),
    ErrorCode.SYNTAX: Kind(400, "The command does not parse"),
    ErrorCode.WRONG_ARITY: Kind(400, "The command has too few or too many arguments"),
    ErrorCode.UNKNOWN_COMMAND: Kind(400, "No such command"),
    ErrorCode.NO_SUCH_STREAM: Kind(404, "No such stream"),
    ErrorCode.NOGROUP: Kind(404, "No such consumer group"),
    ErrorCode.BUSYGROUP: Kind(409, "The consumer group exists already"),
    ErrorCode.NO_SUCH_CONSUMER: Kind(404, "No such consumer"),
    ErrorCode.CONSUMER_HAS_PENDING: Kind(409, "The consumer has pending entries"),
    ErrorCode.ENTRY_TOO_LARGE: Kind(413, "An entry is too large"),
    ErrorCode.LIMIT_EXCEEDED: Kind(413, "The request is over a limit"),
    ErrorCode.REPLY_TOO_LARGE: Kind(413, "The reply is too large"),
    ErrorCode.PRECONDITION_FAILED: Kind(412, "The stream's last id differs"),
    ErrorCode.POSITION_TRIMMED: Kind(410, "Entries at this position were trimmed away"),
    ErrorCode.IDEMPOTENCY_MISMATCH: Kind(422, "The idempotency key was used with another body"),
    ErrorCode.STALE_EPOCH: Kind(409, "The producer has begun a later epoch"),
    ErrorCode.LAYOUT_CHANGED: Kind(409, "The producer's layout changed within an epoch"),
    ErrorCode.MEMORY_LIMIT: Kind(507, "The server is at its memory limit", retryable=True),
    ErrorCode.TOO_MANY_READERS: Kind(503, "Too many reads are waiting", retryable=True),
    HttpCode.MALFORMED_BODY: Kind(400, "The body cannot be read"),
    HttpCode.BODY_MISMATCH: Kind(422, "The body does not fit its schema"),
    HttpCode.BODY_TOO_LARGE: Kind(413, "The body is too large"),
    HttpCode.URL_TOO_LONG: Kind(414, "The request's target is too long"),
    HttpCode.HEAD_TOO_LARGE: Kind(431, "The request's head is too large"),
    HttpCode.REQUEST_TIMEOUT: Kind(408, "The request came too slowly", retryable=True),
    HttpCode.RATE_LIMITED: Kind(429, "Requests come faster than is allowed", retryable=True),
    HttpCode.TOO_MANY_OPEN: Kind(503, "Too many are open", retryable=True),
    HttpCode.INVALID_PARAMETER: Kind(400, "A parameter is not valid"),
    HttpCode.INVALID_NAME: Kind(400, "A name is not valid"),
    HttpCode.NO_SUCH_ENTRY: Kind(404, "No such entry"),
    HttpCode.NOT_FOUND: Kind(404, "No such resource"),
    HttpCode.METHOD_NOT_ALLOWED: Kind(405, "The resource does not take this method"),
    HttpCode.NOT_ACCEPTABLE: Kind(406, "No acceptable representation"),
    HttpCode.UNSUPPORTED_MEDIA_TYPE: Kind(415, "The body is of a type that is not understood"),
    HttpCode.TRANSACTION_ABORTED: Kind(400, "The transaction was not begun"),
    HttpCode.NOT_ACCEPTING: Kind(503, "The server takes no such request now", retryable=True),
    HttpCode.BAD_REQUEST: Kind(400, "The request is not valid"),
    ErrorCode.NOPERM: Kind(403, "The token does not allow this"),
    HttpCode.UNAUTHENTICATED: Kind(401, "A token is needed"),
    HttpCode.TOKEN_IN_URL: Kind(400, "Tokens are not accepted in URLs"),
    HttpCode.ORIGIN_NOT_ALLOWED: Kind(403, "Pages of this origin are not allowed"),
    HttpCode.HOST_NOT_ALLOWED: Kind(421, "The server is not known under this name"),
    HttpCode.UPGRADE_REQUIRED: Kind(426, "The resource is a WebSocket"),
    HttpCode.NOT_IMPLEMENTED: Kind(501, "The server does not implement what the request needs"),
    HttpCode.HTTP_VERSION_NOT_SUPPORTED: Kind(505, "The server does not speak this version of HTTP"),
    HttpCode.INTERNAL: Kind(500, "An error of the server"),
}


class RequestRefused(Exception):
    """A request that is refused before it becomes a command. Nothing was changed.

    `errors` says what and where, item by item; `members` become members of the problem.
    """

    def __init__(
        self,
        code: ProblemCode,
        detail: str,
        *,
        errors: Sequence[Mapping[str, object]] = (),
        members: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.errors = errors
        self.members = members or {}
        self.headers = headers or {}


class CommandRefused(StreamError):
    """A refused command that the client sent in Redis's words: its problem keeps them."""

    def __init__(self, error: StreamError) -> None:
        super().__init__(error.code, error.line, error.names, **error.details)


def request_id_of(scope: Scope) -> str | None:
    """The id that `api.http.request_id` gave this request."""
    found: str | None = scope.get("state", {}).get("request_id")
    return found


def slug_of(code: ProblemCode) -> str:
    """How a code is written in a path: `id-not-greater`."""
    return code.lower().replace("_", "-")


def problem(code: ProblemCode, detail: str, request_id: str | None, **members: object) -> dict[str, Any]:
    """The members of one problem, in the order in which they are written."""
    kind = KINDS[code]
    return {
        "type": PROBLEM_PAGES + slug_of(code),
        "title": kind.title,
        "status": kind.status,
        "detail": detail,
        "code": str(code),
        "retryable": kind.retryable,
        "side_effects": "unknown" if code is HttpCode.INTERNAL else "none",
        "request_id": request_id,
        **members,
    }


def problem_of(error: StreamError, request_id: str | None) -> dict[str, Any]:
    """The problem of a refused command; the names that it is about and its live values (`last_id`,
    `first_id`) are members. A Redis command's problem also has Redis's exact line as `error`."""
    members = {**named(**error.names), **error.details}
    if isinstance(error, CommandRefused):
        return problem(error.code, human_text(error), request_id, **members, error=error.line)
    return problem(error.code, rest_text(error), request_id, **members)


def store_unavailable_problem(error: StoreUnavailable, request_id: str | None) -> dict[str, Any]:
    """The problem of a command that the store does not take, or cannot vouch for."""
    content = problem(HttpCode.NOT_ACCEPTING, error.reason, request_id)
    content["retryable"] = error.retry_after_s is not None
    content["side_effects"] = "unknown" if error.is_outcome_unknown else "none"
    return content


def unauthenticated_problem(error: Unauthenticated, request_id: str | None) -> dict[str, Any]:
    """The problem of a request that nobody known makes, or makes no longer."""
    content = problem(HttpCode.UNAUTHENTICATED, error.reason, request_id)
    content["retryable"] = error.is_changed
    return content


def challenge(error: Unauthenticated) -> dict[str, str]:
    """The header that goes with it (RFC 6750)."""
    told = ', error="invalid_token"' if error.is_given else ""
    return {"WWW-Authenticate": f'Bearer realm="tailrace"{told}'}


def headers_of(error: StreamError) -> dict[str, str]:
    """The headers that go with a refused command's problem: which scope is missing (RFC 6750)."""
    if error.code is not ErrorCode.NOPERM:
        return {}
    scope = error.details["required_scope"]
    return {"WWW-Authenticate": f'Bearer realm="tailrace", error="insufficient_scope", scope="{scope}"'}


def problem_response(content: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Response:
    """The answer that carries `content` under its own status."""
    return Response(
        msgspec.json.encode(content),
        status_code=content["status"],
        headers=dict(headers or {}),
        media_type=PROBLEM_MEDIA_TYPE,
    )
