"""Help for the codes of HTTP: the server refused the request before it became a command, or failed.

This module has texts only. A code of `api.problems.table` without a row here fails a test.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tailrace.api.problems.help.help import Help
from tailrace.api.problems.table import HttpCode, ProblemCode

_APPEND: Final = (
    "POST /v1/streams/race:france/entries\nContent-Type: application/json\n\n"
    '{"fields": {"rider": "Castilla", "speed": "30.2"}}'
)

REQUEST_HELP: Final[Mapping[ProblemCode, Help]] = {
    HttpCode.MALFORMED_BODY: Help(
        "The server could not read the body, and changed nothing.",
        "The body is not valid JSON: it ends too early, has an extra comma, or uses single quotes. A "
        "compressed body may be damaged.",
        "Let a JSON library write the body. `detail` has the line and the column of the mistake.",
        _APPEND,
    ),
    HttpCode.BODY_MISMATCH: Help(
        "The body is valid JSON, but does not match the schema. Nothing was changed.",
        "A member is missing, unknown or has the wrong type. A common case: values of fields are strings, so "
        'send `"30.2"` instead of `30.2`.',
        "`errors` names each place as a JSON pointer, or as a line. The models are in `/docs`.",
        _APPEND,
    ),
    HttpCode.BODY_TOO_LARGE: Help(
        "The server did not read the body to its end, and changed nothing.",
        "The body is larger than `body_bytes_max` at `GET /v1/limits`, before or after decompression.",
        "Send the entries in several requests.",
        "POST /v1/streams/race:france/entries:import\nContent-Type: application/x-ndjson\n\n"
        '{"rider": "Castilla"}\n{"rider": "Norem"}',
    ),
    HttpCode.URL_TOO_LONG: Help(
        "The server did not carry out the request, and closes the connection.",
        "The path and the query together are longer than `url_bytes_max` at `GET /v1/limits`.",
        "Send long lists in a body: `POST /v1/read` reads many streams.",
        'POST /v1/read\n\n{"streams": [{"key": "race:france", "after": "0"}]}',
    ),
    HttpCode.HEAD_TOO_LARGE: Help(
        "The server did not carry out the request, and closes the connection.",
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
        "The token (or the client's address, if there are no tokens) has sent more requests than "
        "`--requests-per-s` allows.",
        "Wait for the number of seconds in `Retry-After`, then repeat the request. Batches and waiting reads "
        "need fewer requests.",
        'POST /v1/streams/race:france/entries:batch\n\n{"entries": [{"fields": {"lap": "1"}}, {"fields": '
        '{"lap": "2"}}]}',
    ),
    HttpCode.TOO_MANY_OPEN: Help(
        "The request was not carried out.",
        "The server has reached its limit of connections, tails, WebSockets, subscriptions or request bodies "
        "in memory; `detail` says which.",
        "Close connections that you no longer need, and repeat the request later. One WebSocket can have "
        "many subscriptions, and `/v1/tail` follows several streams.",
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
        "Percent-encode each character that has a meaning in a URL: `/` is `%2F`, `%` is `%25`.",
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
        "The path is a WebSocket, and the request is not an opening handshake of version 13.",
        "Connect with a WebSocket client, version 13 of the protocol.",
        "GET /v1/ws\nConnection: Upgrade\nUpgrade: websocket\nSec-WebSocket-Version: 13\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ),
    HttpCode.NOT_IMPLEMENTED: Help(
        "The server did not read the request, and closes the connection.",
        "The method is CONNECT, or the body has a transfer coding other than `chunked`.",
        "Do not use the server as a proxy. Send the body with `Content-Length` or "
        "`Transfer-Encoding: chunked`.",
        _APPEND,
    ),
    HttpCode.HTTP_VERSION_NOT_SUPPORTED: Help(
        "The server did not read the request, and closes the connection.",
        "The request line names a version other than HTTP/1.1 and HTTP/1.0.",
        "Send HTTP/1.1. For HTTP/2, put a proxy in front of the server.",
        "GET /v1/streams/race:france",
    ),
    HttpCode.NOT_FOUND: Help(
        "The server has no resource at this path. Nothing was changed.",
        "The path is misspelt, lacks `/v1`, or a `/` in a name is not encoded as `%2F`. Clients for Redis "
        "over REST need the base URL of the commands.",
        "Compare the path with `/docs`. For Redis over REST, set the base URL to "
        "`http://HOST:PORT/v1/command`.",
        'POST /v1/command\n\n["XADD", "race:france", "*", "rider", "Castilla"]',
    ),
    HttpCode.METHOD_NOT_ALLOWED: Help(
        "The path exists, but does not support this method. Nothing was changed.",
        "The method does not fit the operation, such as GET where the request has a body.",
        "Use a method from the header `Allow`.",
        'POST /v1/read\n\n{"streams": [{"key": "race:france", "after": "$"}], "wait_ms": 10000}',
    ),
    HttpCode.NOT_ACCEPTABLE: Help(
        "The request was not carried out.",
        "Each operation returns one media type, and the header `Accept` excludes that type.",
        "Leave `Accept` out, or name the media type in `detail`.",
        "GET /v1/streams/race:france/entries:tail\nAccept: text/event-stream",
    ),
    HttpCode.UNSUPPORTED_MEDIA_TYPE: Help(
        "The server did not read the body, and changed nothing.",
        "`Content-Type` is missing, or the operation does not accept this type (curl sends a form by "
        "default). Or the body is compressed: only `entries:import` accepts `Content-Encoding`, with `gzip` "
        "or `zstd`.",
        "Send `Content-Type: application/json`, or `application/x-ndjson` for an import. Send the body "
        "uncompressed, or use `entries:import`.",
        _APPEND,
    ),
    HttpCode.TRANSACTION_ABORTED: Help(
        "None of the commands of the transaction was run.",
        "One of them is unknown or has a wrong number of arguments. `errors` says which one, counted from "
        "0, and why.",
        "Correct that command and send the whole transaction again.",
        'POST /v1/command/multi-exec\n\n[["XADD", "race:france", "*", "lap", "1"], ["XLEN", "race:france"]]',
    ),
    HttpCode.NOT_ACCEPTING: Help(
        "The server does not accept this request now.",
        "The server is starting or shutting down, or its disk has failed. After a disk failure it accepts no "
        "writes until it is restarted. A gateway (`--store`) cannot reach a node of its engine, the engine "
        "refuses the command, or too few replicas confirmed a write. `detail` says which.",
        "If `retryable` is true, repeat the request after the seconds in `Retry-After`. If `side_effects` is "
        "`unknown`, the disk or the engine failed while the command was carried out: read the stream before "
        "you repeat the command.",
        "GET /readyz",
    ),
    HttpCode.BAD_REQUEST: Help(
        "The request was not carried out.",
        "The request breaks a rule of HTTP: `Host` is missing, repeated or invalid, the target is not a "
        "path, the length of the body is ambiguous, or a WebSocket handshake is invalid. Or a page's "
        "preflight asks for a method that pages may not use.",
        "`detail` says what is wrong. A proxy between client and server may have changed the request.",
        "GET /v1/limits",
    ),
    HttpCode.UNAUTHENTICATED: Help(
        "The request was not carried out, because the server does not know who sent it.",
        "The request has no token, or its token is unknown, was revoked, has expired, or got other rights "
        "during the request.",
        "Create a token with `tailrace token create` and send it. `tailrace token list` shows the tokens and "
        "when they expire.",
        "GET /v1/streams\nAuthorization: Bearer tlr_<id>_<secret>",
    ),
    HttpCode.TOKEN_IN_URL: Help(
        "The request was not carried out.",
        "The query has a parameter for a token. Logs and browser history keep URLs.",
        "Send the token in the header `Authorization`. If the token in the URL is valid, revoke it. For the "
        "WebSocket of a page, get a ticket with `POST /v1/tickets`.",
        "GET /v1/streams\nAuthorization: Bearer tlr_<id>_<secret>",
    ),
    HttpCode.ORIGIN_NOT_ALLOWED: Help(
        "The request was not carried out.",
        "A web page of another origin sent the request. The server checks the origin that the browser sends, "
        "so a foreign page cannot use the server with its visitor's access.",
        "Serve the page from the same origin, or allow its origin: `tailrace serve --allowed-origin "
        "https://app.example`.",
        "GET /v1/streams\nOrigin: https://app.example",
    ),
    HttpCode.HOST_NOT_ALLOWED: Help(
        "The request was not carried out.",
        "The server has no tokens, and `Host` is a name with a dot. A web page could point such a name of "
        "its own at the server (DNS rebinding).",
        "Use `localhost` or the address in the URL, or create tokens. Behind a proxy, allow the origin with "
        "`--allowed-origin`.",
        "GET /v1/streams\nHost: localhost:8080",
    ),
    HttpCode.INTERNAL: Help(
        "The server failed, and cannot tell whether the request took effect.",
        "This is a defect of the server. The log has the error under the `request_id` of the response.",
        "Read the stream before you repeat an append without an idempotency key. Report the defect with the "
        "lines of the log.",
        "GET /v1/streams/race:france",
    ),
}
