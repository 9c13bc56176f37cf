"""Checks the head of a request for the rules that the parser does not check.

This module owns the rules of RFC 9112 that the parser leaves to its caller: the HTTP version, `Host`, the
form of the target, and `Transfer-Encoding`. It also refuses a repeated header that has one value. It never
sees a connection. A head that breaks a rule raises `ProtocolRefusal`, and the connection ends with the
response: a proxy in front of the server may have understood the head in another way, and may disagree with
the server about where the request ends.
"""

from __future__ import annotations

import re
from typing import Final

from tailrace.api.access.origins import AUTHORITY, is_host
from tailrace.api.problems.table import HttpCode
from tailrace.app.protocols.heads import Headers
from tailrace.app.protocols.refusals import ProtocolRefusal

_VERSIONS: Final = frozenset({"1.0", "1.1"})

_ABSOLUTE: Final = re.compile(rb"(?i:https?)://(" + AUTHORITY + rb")(/[^#]*|\?[^#]*)?")

_ONCE: Final = {
    name.lower().encode(): name
    for name in (
        *("Content-Encoding", "Content-Type", "Last-Event-ID"),
        *("Idempotency-Key", "Producer-Epoch", "Producer-Id", "Producer-Layout"),
        *("Consistency", "Min-Replicas", "Upstash-Encoding"),
    )
}
"""The headers with one value. If one is repeated, the server and a proxy may use different values. The parser
checks `Content-Length`, and authentication `Authorization`; other headers are lists, or change no reply."""

_SHOWN_BYTES_MAX: Final = 100
"""The bytes of a wrong value that a refusal shows."""


def require_sound_head(method: bytes, version: str, headers: Headers) -> None:
    """Check version, method, `Host`, `Transfer-Encoding`, and headers with one value. Names in `headers` are
    in lower case.

    Raises `ProtocolRefusal`: 400, 501 or 505. O(headers).
    """
    require_version(version)
    _require_once(headers)
    if method == b"CONNECT":
        raise ProtocolRefusal(
            HttpCode.NOT_IMPLEMENTED, "CONNECT is not supported: this server is not a proxy"
        )
    hosts = 0
    for name, value in headers:
        if name == b"host":
            hosts += 1
            if not is_host(value):
                raise ProtocolRefusal(HttpCode.BAD_REQUEST, f"the Host header is not a host: {_shown(value)}")
        elif name == b"transfer-encoding":
            _require_chunked(version, value)
    if hosts > 1 or (hosts == 0 and version == "1.1"):
        raise ProtocolRefusal(
            HttpCode.BAD_REQUEST, f"the request has {hosts} Host headers: an HTTP/1.1 request has exactly one"
        )


def _require_once(headers: Headers) -> None:
    names = [name for name, _ in headers if name in _ONCE]
    repeated = next((_ONCE[name] for name in names if names.count(name) > 1), None)
    if repeated is not None:
        detail = "it is given more than once; give it once"
        errors = [{"parameter": repeated, "in": "header", "detail": detail}]
        raise ProtocolRefusal(
            HttpCode.INVALID_PARAMETER, f"`{repeated}`: {detail}", members={"errors": errors}
        )


def require_version(version: str) -> None:
    """Raises `ProtocolRefusal` 505 unless `version` is one that the server speaks."""
    if version not in _VERSIONS:
        raise ProtocolRefusal(
            HttpCode.HTTP_VERSION_NOT_SUPPORTED, f"HTTP/{version} is not supported: send HTTP/1.1 or HTTP/1.0"
        )


def _require_chunked(version: str, value: bytes) -> None:
    if version == "1.0":
        raise ProtocolRefusal(HttpCode.BAD_REQUEST, "HTTP/1.0 has no Transfer-Encoding: send Content-Length")
    if value.strip(b" \t").lower() != b"chunked":
        raise ProtocolRefusal(
            HttpCode.NOT_IMPLEMENTED,
            f"Transfer-Encoding {_shown(value)} is not supported: `chunked` is the only one",
        )


def origin_form(method: bytes, target: bytes, headers: Headers) -> bytes:
    """Return the target as a path with its query; for `http://host/path`, only the path and the query.

    Raises `ProtocolRefusal` 400: a target of another form, one with a fragment, or one whose host is not that
    of the `Host` header, which the server checks.
    """
    if target.startswith(b"/") and b"#" not in target:
        return target
    if target == b"*" and method == b"OPTIONS":
        return target
    found = _ABSOLUTE.fullmatch(target)
    if found is None:
        raise ProtocolRefusal(HttpCode.BAD_REQUEST, f"the request's target is not a path: {_shown(target)}")
    if any(name == b"host" and value.lower() != found[1].lower() for name, value in headers):
        raise ProtocolRefusal(HttpCode.BAD_REQUEST, "the target and the Host header name different hosts")
    path: bytes = found[2] or b"/"
    return path if path.startswith(b"/") else b"/" + path


def _shown(value: bytes) -> str:
    text = ascii(value[:_SHOWN_BYTES_MAX].decode("latin-1"))
    return text if len(value) <= _SHOWN_BYTES_MAX else f"{text}..."
