"""An example of each problem for the OpenAPI document.

It owns the texts of the examples; a test provokes each problem and compares it with its example. Titles and
statuses come from `api.problems.table`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from tailrace.api.problems.refusal_texts import human_text
from tailrace.api.problems.table import HttpCode, ProblemCode, problem
from tailrace.core.errors import ErrorCode, reply_too_large
from tailrace.core.limits import REPLY_BYTES_MAX, URL_BYTES_MAX

REQUEST_ID: Final = "0f8fad5bd9cb469fa16570867728950e"
_REPLY_TOO_LARGE: Final = reply_too_large(REPLY_BYTES_MAX)


class Example(NamedTuple):
    """The text of one example, and the members that only problems of this code have."""

    detail: str
    members: Mapping[str, object] = {}


_UNKNOWN_MEMBER: Final = (
    "unknown member; allowed: `fields`, `pairs`, `encoding`, `id`, `trim`, `nomkstream`, `if_last_id`, "
    "`delay_ms`, `deliver_at_ms`"
)
_UNKNOWN_PARAMETER: Final = "unknown parameter; none is allowed"


def _redis(line: str) -> Example:
    """Return the example of an error of the command endpoint, with the error line of Redis."""
    return Example(line.partition(" ")[2], {"error": line})


EXAMPLES: Final[Mapping[ProblemCode, Example]] = {
    ErrorCode.INVALID_ID: Example(
        "`id` is '1-2-3', which is not an entry id; send an id such as 1526919030474-0, "
        "`1526919030474-*` to let the server choose the sequence, or `*`",
        {"given": "1-2-3", "argument": "id"},
    ),
    ErrorCode.ID_NOT_GREATER: Example(
        "the id 1692632086370-0 is not greater than the stream's last id 1692632102976-0; give a greater "
        "one, or omit `id` to let the server choose it",
        {"last_id": "1692632102976-0", "given": "1692632086370-0"},
    ),
    ErrorCode.ID_EXHAUSTED: Example(
        "the stream's last id is 18446744073709551615-18446744073709551615, the greatest possible id; "
        "append to another stream",
        {"last_id": "18446744073709551615-18446744073709551615"},
    ),
    ErrorCode.INVALID_ARGUMENT: Example(
        "Idempotency-Key can be used with ids of your own only if Producer-Epoch is set: omit `id`, or set it"
    ),
    ErrorCode.NOT_AN_INTEGER: _redis("ERR value is not an integer or out of range"),
    ErrorCode.SYNTAX: _redis("ERR syntax error"),
    ErrorCode.WRONG_ARITY: _redis("ERR wrong number of arguments for 'xlen' command"),
    ErrorCode.UNKNOWN_COMMAND: _redis("ERR unknown command 'GET', with args beginning with: 'race:france' "),
    ErrorCode.INVALID_FILTER: Example(
        "the filter is not valid at character 15: expected an operator such as `==` or `&&`, found `=`; "
        "equality is `==`",
        {"offset": "14", "excerpt": 'fields.status = "failed"\n              ^'},
    ),
    ErrorCode.NO_SUCH_STREAM: Example(
        "the stream 'race:spain' does not exist; its first entry creates it, and so does "
        "PUT /v1/streams/{key}",
        {"key": "race:spain"},
    ),
    ErrorCode.NOGROUP: Example(
        "the stream 'race:france' has no consumer group 'nobody'; create it with "
        "PUT /v1/streams/{key}/groups/{group}",
        {"key": "race:france", "group": "nobody", "missing": "group"},
    ),
    ErrorCode.BUSYGROUP: Example(
        "the stream 'race:france' already has a consumer group 'judges'; move it with "
        "POST /v1/streams/{key}/groups/{group}:setid, or delete it first",
        {"key": "race:france", "group": "judges"},
    ),
    ErrorCode.NO_SUCH_CONSUMER: Example(
        "the group 'judges' of the stream 'race:france' has no consumer 'nobody'",
        {"key": "race:france", "group": "judges", "consumer": "nobody"},
    ),
    ErrorCode.CONSUMER_HAS_PENDING: Example(
        "the consumer 'alice' has 2 pending entries; hand them to another consumer with `transfer_to`, or "
        "drop them with `force=true`",
        {"key": "race:france", "group": "judges", "consumer": "alice", "pending": "2"},
    ),
    ErrorCode.ENTRY_TOO_LARGE: Example("an entry may take 16777216 bytes at most, this one takes 16777228"),
    ErrorCode.LIMIT_EXCEEDED: Example(
        "the body has 100001 entries; at most 100000 are allowed in one request"
    ),
    ErrorCode.REPLY_TOO_LARGE: Example(
        human_text(_REPLY_TOO_LARGE), {**_REPLY_TOO_LARGE.details, "error": _REPLY_TOO_LARGE.line}
    ),
    ErrorCode.PRECONDITION_FAILED: Example(
        "the stream's last id is 1692632102976-0, not the one in `if_last_id`; read the entries after the "
        "one that you expected, then decide again",
        {"last_id": "1692632102976-0"},
    ),
    ErrorCode.POSITION_TRIMMED: Example(
        "entries at or after the position were trimmed; the first entry that is left is 1692632102976-0; "
        "continue there, or omit `strict`",
        {"first_id": "1692632102976-0", "last_id": "1692632102976-0"},
    ),
    ErrorCode.IDEMPOTENCY_MISMATCH: Example(
        "the producer used this idempotency key before, with another body; send a new key for new content"
    ),
    ErrorCode.STALE_EPOCH: Example(
        "the producer's epoch is too old, its newest is 2; send that epoch or a greater one", {"epoch": "2"}
    ),
    ErrorCode.LAYOUT_CHANGED: Example(
        "the epoch began with the layout '4 partitions'; replay it with that layout, or begin another epoch",
        {"layout": "4 partitions"},
    ),
    ErrorCode.MEMORY_LIMIT: Example(
        "the server's memory limit is reached; delete or trim entries, or start the server with a higher "
        "memory limit"
    ),
    ErrorCode.WRONGTYPE: Example(
        "the engine has another type of value under the key 'race:france'; use another key, or delete that "
        "value "
        "with a client of the engine",
        {"key": "race:france"},
    ),
    ErrorCode.CROSSSLOT: Example(
        "the keys of one step must be in one slot of the cluster; give them a common part in braces, such as "
        "`{race}:france` and `{race}:usa`, or send one request for each key"
    ),
    ErrorCode.ENGINE_LACKS_FEATURE: Example(
        "the engine behind this server has no CONFIG SET of stream-idmp-duration; it needs Redis 8.6. "
        "GET /v1/limits shows what it has",
        {"feature": "CONFIG SET of stream-idmp-duration", "needs": "Redis 8.6"},
    ),
    ErrorCode.TOO_MANY_READERS: Example(
        "100000 reads are waiting, which is the server's limit; try again later", {"most": "100000"}
    ),
    ErrorCode.NOPERM: Example(
        "the token 'gate' does not allow 'append' on 'race:france'",
        {"required_scope": "append", "key": "race:france"},
    ),
    HttpCode.UNAUTHENTICATED: Example("the token is unknown or was revoked"),
    HttpCode.TOKEN_IN_URL: Example(
        "tokens are not accepted in URLs, because logs and browser history would keep them: send "
        "`Authorization: Bearer <token>`, or for a WebSocket a ticket as subprotocol; revoke a token that "
        "was sent in a URL"
    ),
    HttpCode.ORIGIN_NOT_ALLOWED: Example(
        "the request comes from a page of another origin, and that origin is not allowed"
    ),
    HttpCode.HOST_NOT_ALLOWED: Example(
        "without tokens, the server accepts only `localhost`, IP addresses and names without a dot as `Host`,"
        " so that no web page can reach it through DNS rebinding"
    ),
    HttpCode.UPGRADE_REQUIRED: Example(
        "this resource is a WebSocket: send an opening handshake (RFC 6455) over HTTP/1.1"
    ),
    HttpCode.NOT_IMPLEMENTED: Example("Transfer-Encoding 'gzip' is not supported: `chunked` is the only one"),
    HttpCode.HTTP_VERSION_NOT_SUPPORTED: Example("HTTP/2.0 is not supported: send HTTP/1.1 or HTTP/1.0"),
    HttpCode.REQUEST_TIMEOUT: Example("too little of the body arrived within 8 s"),
    HttpCode.URL_TOO_LONG: Example(f"a target may take {URL_BYTES_MAX} bytes at most"),
    HttpCode.HEAD_TOO_LARGE: Example("a head may take 131072 bytes and 100 lines at most, a trailer as many"),
    HttpCode.RATE_LIMITED: Example("100 requests in 1 s are allowed; try again in 1 s", {"retry_after_s": 1}),
    HttpCode.TOO_MANY_OPEN: Example(
        "10000 tails are open, which is the server's limit; close one, or try again later"
    ),
    HttpCode.MALFORMED_BODY: Example(
        "the body is not valid JSON at line 1, column 11: the text ends too early",
        {"errors": [{"detail": "the text ends too early", "line": 1, "column": 11}]},
    ),
    HttpCode.BODY_MISMATCH: Example(
        f"/speed: {_UNKNOWN_MEMBER}", {"errors": [{"pointer": "/speed", "detail": _UNKNOWN_MEMBER}]}
    ),
    HttpCode.BODY_TOO_LARGE: Example("the body is too large; at most 67108864 bytes are allowed"),
    HttpCode.INVALID_PARAMETER: Example(
        f"`cuont`: {_UNKNOWN_PARAMETER}",
        {"errors": [{"parameter": "cuont", "in": "query", "detail": _UNKNOWN_PARAMETER}]},
    ),
    HttpCode.INVALID_NAME: Example("key: the name has 513 bytes; a name has 1 to 512 bytes"),
    HttpCode.NO_SUCH_ENTRY: Example(
        "the stream 'race:france' has no entry 1-0", {"key": "race:france", "id": "1-0"}
    ),
    HttpCode.NOT_ACCEPTABLE: Example(
        "`Accept: image/png` excludes application/json, the only type of this resource; accept that type, or "
        "omit the header"
    ),
    HttpCode.UNSUPPORTED_MEDIA_TYPE: Example(
        "the body is text/plain; send application/json with the header `Content-Type: application/json`"
    ),
    HttpCode.NOT_FOUND: Example(
        "no problem has the code 'nothing'; use the `code` of a problem, such as `id-not-greater`"
    ),
    HttpCode.TRANSACTION_ABORTED: Example(
        "command 1 is invalid: ERR wrong number of arguments for 'xlen' command",
        {
            "errors": [{"pointer": "/1", "detail": "ERR wrong number of arguments for 'xlen' command"}],
            "error": "EXECABORT Transaction discarded because of previous errors.",
        },
    ),
    HttpCode.NOT_ACCEPTING: Example("the server is shutting down"),
    HttpCode.INTERNAL: Example(
        "the server failed while it carried out the request; its log has the error under this request_id"
    ),
}
"""A code without an example shows its title as `detail`."""


def problem_examples(codes: Iterable[ProblemCode]) -> dict[str, dict[str, Any]]:
    """Return the examples of these codes as components of the OpenAPI document, by code."""
    return {str(code): _component(code) for code in codes}


def _component(code: ProblemCode) -> dict[str, Any]:
    shown = problem(code, "", REQUEST_ID)
    detail, members = EXAMPLES.get(code, Example(shown["title"]))
    return {"summary": shown["title"], "value": {**shown, "detail": detail, **members}}
