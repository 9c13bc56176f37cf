"""The table of all error codes with their status and title, and the members of a problem (RFC 9457).

The engine and the modules that read requests raise errors, `api.http.problem_handlers` catches them, and this
module writes the response. It never decides whether something is an error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
from starlette.responses import Response
from starlette.types import Scope

from tailrace.api.name_members import named
from tailrace.api.ports import StoreUnavailable
from tailrace.api.principals import Unauthenticated
from tailrace.api.problems.refusal_texts import human_text, rest_text
from tailrace.core.errors import ErrorCode, StreamError

PROBLEM_MEDIA_TYPE: Final = "application/problem+json"

NO_STORE: Final = {"Cache-Control": "no-store"}
"""No cache may keep a response: a later request can have another token, and the stream other entries. Only
the files of the console, which say themselves how to cache them, have another value."""

PROBLEM_PAGES: Final = "/problems/"
"""The path of the pages that explain each code. The `type` of a problem is the path of its page."""


class HttpCode(StrEnum):
    """Codes of errors that the server finds before the engine receives a command."""

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

DEFECT: Final = (
    "the server failed while it carried out the request; its log has the error under this request_id"
)
"""The `detail` of every internal error: it reveals nothing about the cause."""


class Kind(NamedTuple):
    """A row of the table: HTTP status, title, and whether the same request can succeed later, unchanged."""

    status: int
    title: str
    retryable: bool = False


KINDS: Final[Mapping[ProblemCode, Kind]] = {
    ErrorCode.INVALID_ID: Kind(400, "The value is not a valid entry id"),
    ErrorCode.ID_NOT_GREATER: Kind(409, "The id is not greater than the stream's last id"),
    ErrorCode.ID_EXHAUSTED: Kind(409, "The stream has reached the greatest possible id"),
    ErrorCode.INVALID_ARGUMENT: Kind(400, "An argument is not valid"),
    ErrorCode.NOT_AN_INTEGER: Kind(400, "An argument is not an integer"),
    ErrorCode.SYNTAX: Kind(400, "The command has a syntax error"),
    ErrorCode.WRONG_ARITY: Kind(400, "The command has the wrong number of arguments"),
    ErrorCode.UNKNOWN_COMMAND: Kind(400, "The command does not exist"),
    ErrorCode.NO_SUCH_STREAM: Kind(404, "The stream does not exist"),
    ErrorCode.NOGROUP: Kind(404, "The consumer group does not exist"),
    ErrorCode.BUSYGROUP: Kind(409, "The consumer group already exists"),
    ErrorCode.NO_SUCH_CONSUMER: Kind(404, "The consumer does not exist"),
    ErrorCode.CONSUMER_HAS_PENDING: Kind(409, "The consumer has pending entries"),
    ErrorCode.ENTRY_TOO_LARGE: Kind(413, "An entry is too large"),
    ErrorCode.LIMIT_EXCEEDED: Kind(413, "The request exceeds a limit"),
    ErrorCode.REPLY_TOO_LARGE: Kind(413, "The reply is too large"),
    ErrorCode.PRECONDITION_FAILED: Kind(412, "The stream's last id is not the expected one"),
    ErrorCode.POSITION_TRIMMED: Kind(410, "Entries at this position were trimmed"),
    ErrorCode.IDEMPOTENCY_MISMATCH: Kind(422, "The idempotency key was used with another body"),
    ErrorCode.STALE_EPOCH: Kind(409, "The producer already uses a later epoch"),
    ErrorCode.LAYOUT_CHANGED: Kind(409, "The producer's layout changed within an epoch"),
    ErrorCode.MEMORY_LIMIT: Kind(507, "The server has reached its memory limit", retryable=True),
    ErrorCode.TOO_MANY_READERS: Kind(503, "Too many reads are waiting", retryable=True),
    ErrorCode.WRONGTYPE: Kind(409, "The key is not a stream"),
    ErrorCode.CROSSSLOT: Kind(400, "The keys are in different slots of the cluster"),
    ErrorCode.ENGINE_LACKS_FEATURE: Kind(501, "The engine behind the server cannot do this"),
    HttpCode.MALFORMED_BODY: Kind(400, "The body is malformed"),
    HttpCode.BODY_MISMATCH: Kind(422, "The body does not match its schema"),
    HttpCode.BODY_TOO_LARGE: Kind(413, "The body is too large"),
    HttpCode.URL_TOO_LONG: Kind(414, "The URL is too long"),
    HttpCode.HEAD_TOO_LARGE: Kind(431, "The request's headers are too large"),
    HttpCode.REQUEST_TIMEOUT: Kind(408, "The request arrived too slowly", retryable=True),
    HttpCode.RATE_LIMITED: Kind(429, "Too many requests", retryable=True),
    HttpCode.TOO_MANY_OPEN: Kind(
        503, "Too many connections, tails or subscriptions are open", retryable=True
    ),
    HttpCode.INVALID_PARAMETER: Kind(400, "A parameter is not valid"),
    HttpCode.INVALID_NAME: Kind(400, "A name is not valid"),
    HttpCode.NO_SUCH_ENTRY: Kind(404, "The entry does not exist"),
    HttpCode.NOT_FOUND: Kind(404, "The resource does not exist"),
    HttpCode.METHOD_NOT_ALLOWED: Kind(405, "The resource does not support this method"),
    HttpCode.NOT_ACCEPTABLE: Kind(406, "The requested media type is not available"),
    HttpCode.UNSUPPORTED_MEDIA_TYPE: Kind(415, "The media type of the body is not supported"),
    HttpCode.TRANSACTION_ABORTED: Kind(400, "The transaction was not run"),
    HttpCode.NOT_ACCEPTING: Kind(503, "The server does not accept this request now", retryable=True),
    HttpCode.BAD_REQUEST: Kind(400, "The request is not valid"),
    ErrorCode.INVALID_FILTER: Kind(400, "The filter is not valid"),
    ErrorCode.NOPERM: Kind(403, "The token does not allow this"),
    HttpCode.UNAUTHENTICATED: Kind(401, "A valid token is required"),
    HttpCode.TOKEN_IN_URL: Kind(400, "Tokens are not accepted in URLs"),
    HttpCode.ORIGIN_NOT_ALLOWED: Kind(403, "Web pages of this origin are not allowed"),
    HttpCode.HOST_NOT_ALLOWED: Kind(421, "The server does not answer to this host name"),
    HttpCode.UPGRADE_REQUIRED: Kind(426, "The resource is a WebSocket"),
    HttpCode.NOT_IMPLEMENTED: Kind(501, "The server does not support a feature that the request uses"),
    HttpCode.HTTP_VERSION_NOT_SUPPORTED: Kind(505, "The server does not support this version of HTTP"),
    HttpCode.INTERNAL: Kind(500, "Internal server error"),
}


class RequestRefused(Exception):
    """A request that the server refuses before it becomes a command; nothing was changed.

    `errors` lists each mistake with its place. `members` and `headers` are added to the response.
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
    """A refused command from the command endpoint; its problem contains the error line of Redis."""

    def __init__(self, error: StreamError) -> None:
        super().__init__(error.code, error.line, error.names, **error.details)


Refusal: TypeAlias = StreamError | RequestRefused | StoreUnavailable | Unauthenticated
"""Every reason for which the server refuses a request. Any other exception is a defect."""

REFUSALS: Final = (StreamError, RequestRefused, StoreUnavailable, Unauthenticated)


def request_id_of(scope: Scope) -> str | None:
    """Return the id that `api.http.layers` assigned to this request, or None before that."""
    found: str | None = scope.get("state", {}).get("request_id")
    return found


def slug_of(code: ProblemCode) -> str:
    """Return a code as paths write it, such as `id-not-greater`."""
    return code.lower().replace("_", "-")


def problem(code: ProblemCode, detail: str, request_id: str | None, **members: object) -> dict[str, Any]:
    """Return the members of a problem, in the order in which they are written."""
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


def problem_of(error: Refusal, request_id: str | None) -> dict[str, Any]:
    """Return the problem of a refused request.

    Its members include the names that the error is about and current values such as `last_id`. The problem of
    a Redis command also has the exact error line of Redis as `error`.
    """
    if isinstance(error, StreamError):
        members = {**named(**error.names), **error.details}
        if isinstance(error, CommandRefused):
            return problem(error.code, human_text(error), request_id, **members, error=error.line)
        return problem(error.code, rest_text(error), request_id, **members)
    if isinstance(error, RequestRefused):
        errors = {"errors": error.errors} if error.errors else {}
        return problem(error.code, error.detail, request_id, **error.members, **errors)
    if isinstance(error, Unauthenticated):
        content = problem(HttpCode.UNAUTHENTICATED, error.reason, request_id)
        content["retryable"] = error.is_changed
        return content
    content = problem(HttpCode(error.code), error.reason, request_id)
    content["retryable"] = error.retry_after_s is not None
    content["side_effects"] = "unknown" if error.is_outcome_unknown else "none"
    return content


def problem_in_words(error: Refusal, request_id: str | None) -> dict[str, Any]:
    """Return the problem of a refused command in Redis's words. Its member `error` is an error line of Redis:
    clients for Redis over REST show only this member."""
    if isinstance(error, StreamError):
        return problem_of(CommandRefused(error), request_id)
    content = problem_of(error, request_id)
    if isinstance(error, Unauthenticated):
        content["error"] = f"NOAUTH {error.reason}"
    content.setdefault("error", f"ERR {content['detail']}")
    return content


def headers_of(error: Refusal) -> Mapping[str, str]:
    """Return the headers of the response to a refused request.

    `WWW-Authenticate` says which scope the token lacks, or that the request needs a token (RFC 6750).
    `Retry-After` says when the store accepts commands again.
    """
    if isinstance(error, StreamError):
        if error.code is not ErrorCode.NOPERM:
            return {}
        scope = error.details["required_scope"]
        return {"WWW-Authenticate": f'Bearer realm="tailrace", error="insufficient_scope", scope="{scope}"'}
    if isinstance(error, RequestRefused):
        return error.headers
    if isinstance(error, Unauthenticated):
        invalid = ', error="invalid_token"' if error.is_given else ""
        return {"WWW-Authenticate": f'Bearer realm="tailrace"{invalid}'}
    return {} if error.retry_after_s is None else {"Retry-After": str(error.retry_after_s)}


def problem_response(content: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Response:
    """Return the response with the problem `content`, under the status in it."""
    return Response(
        msgspec.json.encode(content),
        status_code=content["status"],
        headers={**NO_STORE, **(headers or {})},
        media_type=PROBLEM_MEDIA_TYPE,
    )
