"""Help for the codes of the surface: a request is refused before it becomes a command, or the server fails.

It owns texts only. A code of `api.problems` without a row here fails a test.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from api.problem_help.help import Help
from api.problems import HttpCode, ProblemCode

_APPEND: Final = (
    "POST /v1/streams/race:france/entries\nContent-Type: application/json\n\n"
    '{"fields": {"rider": "Castilla", "speed": "30.2"}}'
)

REQUEST_HELP: Final[Mapping[ProblemCode, Help]] = {
    HttpCode.MALFORMED_BODY: Help(
        "The server could not read the body, and changed nothing.",
        "The body is no JSON: it is cut off, has a comma too many, or uses single quotes. A compressed body "
        "may be damaged.",
        "Let a JSON library write the body. `detail` says where the reading stopped.",
        _APPEND,
    ),
    HttpCode.BODY_MISMATCH: Help(
        "The body is JSON of the wrong shape, and nothing was changed.",
        "A member is missing, unknown or of another type. A common case: values of fields are strings, so "
        '`30.2` is sent as `"30.2"`.',
        "`errors` names each place as a JSON pointer, or as a line. The models are in `/docs`.",
        _APPEND,
    ),
    HttpCode.BODY_TOO_LARGE: Help(
        "The server did not read the body to its end, and changed nothing.",
        "The body is larger than `body_bytes_max` at `GET /v1/limits`, also after it was decompressed.",
        "Send the entries in several requests.",
        "POST /v1/streams/race:france/entries:import\nContent-Type: application/x-ndjson\n\n"
        '{"rider": "Castilla"}\n{"rider": "Norem"}',
    ),
    HttpCode.URL_TOO_LONG: Help(
        "The server did not look at the request, and closes the connection.",
        "The path and the query together are longer than `url_bytes_max` at `GET /v1/limits`.",
        "Send long lists in a body: `POST /v1/read` reads many streams.",
        'POST /v1/read\n\n{"streams": [{"key": "race:france", "after": "0"}]}',
    ),
    HttpCode.HEAD_TOO_LARGE: Help(
        "The server did not look at the request, and closes the connection.",
        "The request has more headers, or longer ones, than `headers_max` and `head_bytes_max` at `GET "
        "/v1/limits` allow. Cookies of other applications on the same host are a common cause.",
        "Send fewer headers. The server needs no cookies.",
        "GET /v1/streams/race:france",
    ),
    HttpCode.REQUEST_TIMEOUT: Help(
        "The server stopped waiting for the rest of the request, changed nothing, and closes the connection.",
        "The head or the body arrived too slowly. The network is slow, or the client announced more bytes in "
        "`Content-Length` than it sent.",
        "Repeat the request. Send large imports in parts.",
        _APPEND,
    ),
    HttpCode.RATE_LIMITED: Help(
        "The request was not carried out.",
        "The token, or the address where no token is used, has sent more requests than `--requests-per-s` "
        "allows.",
        "Wait for the seconds in `Retry-After`, then repeat the request. Batches and waiting reads need "
        "fewer requests.",
        'POST /v1/streams/race:france/entries:batch\n\n{"entries": [{"fields": {"lap": "1"}}, {"fields": '
        '{"lap": "2"}}]}',
    ),
    HttpCode.TOO_MANY_OPEN: Help(
        "The request was not carried out.",
        "As many connections, tails, WebSockets or subscriptions are open as the server allows; `detail` "
        "names which.",
        "Close what is not needed, and repeat the request later. One WebSocket carries many subscriptions, "
        "and `/v1/tail` follows several streams.",
        "GET /v1/tail?stream=race:france&stream=race:usa",
    ),
    HttpCode.INVALID_PARAMETER: Help(
        "The request changed nothing.",
        "A parameter of the query or a header is unknown, misspelt, given twice, or has a value outside its "
        "range.",
        "`errors` names each parameter. An operation accepts only the parameters that `/docs` shows.",
        "GET /v1/streams/race:france/entries?count=10",
    ),
    HttpCode.INVALID_NAME: Help(
        "The request changed nothing.",
        "The name of a stream, group or consumer is empty or longer than 512 bytes, or its percent-encoding "
        "is wrong.",
        "Encode each byte of the name that has a meaning in a URL: `/` is `%2F`, `%` is `%25`.",
        "PUT /v1/streams/race%2Ffrance",
    ),
    HttpCode.NO_SUCH_ENTRY: Help(
        "No entry was returned.",
        "The stream exists, and it has no entry with this id: the entry was deleted or trimmed, or never "
        "existed.",
        "Read a range to see which entries exist.",
        "GET /v1/streams/race:france/entries?count=10",
    ),
    HttpCode.UPGRADE_REQUIRED: Help(
        "The server opened no WebSocket.",
        "The path is a WebSocket, and the request is not an opening handshake that the server understands.",
        "Connect with a WebSocket client, version 13 of the protocol.",
        "GET /v1/ws\nConnection: Upgrade\nUpgrade: websocket\nSec-WebSocket-Version: 13\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ),
    HttpCode.NOT_IMPLEMENTED: Help(
        "The server did not read the request, and closes the connection.",
        "The method is CONNECT, or the body has a transfer coding other than `chunked`.",
        "Send the request to the server itself, not through it as a proxy, and the body with "
        "`Content-Length` or `Transfer-Encoding: chunked`.",
        _APPEND,
    ),
    HttpCode.HTTP_VERSION_NOT_SUPPORTED: Help(
        "The server did not read the request, and closes the connection.",
        "The request line names another version than HTTP/1.1 or HTTP/1.0.",
        "Send HTTP/1.1. For HTTP/2, put a proxy in front of the server.",
        "GET /v1/streams/race:france",
    ),
    HttpCode.NOT_FOUND: Help(
        "Nothing was done: the server has nothing at this path.",
        "The path is misspelt, lacks `/v1`, or a `/` in a name is not encoded as `%2F`. Clients for Redis "
        "over REST need the base URL of the commands.",
        "Compare the path with `/docs`. For Redis over REST, set the base URL to "
        "`http://HOST:PORT/v1/command`.",
        'POST /v1/command\n\n["XADD", "race:france", "*", "rider", "Castilla"]',
    ),
    HttpCode.METHOD_NOT_ALLOWED: Help(
        "Nothing was done: the path exists, and takes other methods.",
        "The method does not fit the operation, such as GET where the request has a body.",
        "Use a method from the header `Allow`.",
        'POST /v1/read\n\n{"streams": [{"key": "race:france", "after": "$"}], "wait_ms": 10000}',
    ),
    HttpCode.NOT_ACCEPTABLE: Help(
        "The request was not carried out.",
        "Each operation answers one media type, and the header `Accept` excludes it.",
        "Leave `Accept` out, or name the media type in `detail`.",
        "GET /v1/streams/race:france/entries:tail\nAccept: text/event-stream",
    ),
    HttpCode.UNSUPPORTED_MEDIA_TYPE: Help(
        "The server did not read the body, and changed nothing.",
        "`Content-Type` is missing or names another type than the operation takes, or `Content-Encoding` is "
        "neither `gzip` nor `zstd`. curl sends a form unless told otherwise.",
        "Send the type in the header `Accept` of the answer: `application/json`, or `application/x-ndjson` "
        "for an import.",
        _APPEND,
    ),
    HttpCode.TRANSACTION_ABORTED: Help(
        "None of the commands of the transaction was run.",
        "One of them does not parse. `errors` says which one, counted from 0, and why.",
        "Correct that command and send the whole transaction again.",
        'POST /v1/command/multi-exec\n\n[["XADD", "race:france", "*", "lap", "1"], ["XLEN", "race:france"]]',
    ),
    HttpCode.NOT_ACCEPTING: Help(
        "The server does not take such requests now.",
        "It is starting or shutting down, or its disk has failed: then it takes no writes until it is "
        "restarted. `detail` says which.",
        "If `retryable` is true, repeat the request after the seconds in `Retry-After`. If `side_effects` is "
        "`unknown`, the disk failed while the command was carried out: look at the stream before you repeat "
        "it.",
        "GET /readyz",
    ),
    HttpCode.BAD_REQUEST: Help(
        "The request was not carried out.",
        "The request breaks a rule of HTTP, or asks for something that the server does not do, such as a "
        "preflight for a method that pages may not use.",
        "`detail` says what is wrong. A proxy between client and server may have changed the request.",
        "GET /v1/limits",
    ),
    HttpCode.UNAUTHENTICATED: Help(
        "The request was not carried out, because the server does not know who sent it.",
        "No token was sent, or the token is unknown, was revoked, has expired, or got other rights while the "
        "request was running.",
        "Send a token of `tailrace token create`. `tailrace token list` shows the tokens and when they "
        "expire.",
        "GET /v1/streams\nAuthorization: Bearer tlr_<id>_<secret>",
    ),
    HttpCode.TOKEN_IN_URL: Help(
        "The request was not carried out.",
        "A parameter of the query is meant for a token. Logs and the history of browsers keep URLs.",
        "Send the token in the header `Authorization`, and revoke it if it is real. For the WebSocket of a "
        "page, ask for a ticket with `POST /v1/tickets`.",
        "GET /v1/streams\nAuthorization: Bearer tlr_<id>_<secret>",
    ),
    HttpCode.ORIGIN_NOT_ALLOWED: Help(
        "The request was not carried out.",
        "A web page of another origin sent it. Browsers tell the server, so that a page cannot use the "
        "server in the name of its visitor.",
        "Serve the page from the same origin, or allow its origin: `tailrace serve --allowed-origin "
        "https://app.example`.",
        "GET /v1/streams\nOrigin: https://app.example",
    ),
    HttpCode.HOST_NOT_ALLOWED: Help(
        "The request was not carried out.",
        "The server has no tokens, and the header `Host` names it by a name with a dot. A web page could "
        "reach it under such a name of its own (DNS rebinding).",
        "Use `localhost` or the address, or make tokens. Behind a proxy, allow the origin with "
        "`--allowed-origin`.",
        "GET /v1/streams\nHost: localhost:8080",
    ),
    HttpCode.INTERNAL: Help(
        "The server failed, and cannot tell whether the request took effect.",
        "This is a defect of the server. Its log has the error under the `request_id` of the answer.",
        "Look at the stream before you repeat an append without an idempotency key. Report the defect with "
        "the lines of the log.",
        "GET /v1/streams/race:france",
    ),
}
