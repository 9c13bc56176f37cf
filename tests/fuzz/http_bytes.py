"""The bytes of the HTTP requests that fuzzed programs send, each in its own form and in a plain form.

Entries have the same length, so that many requests have the same head: the server caches heads. This module
never decides what is requested (`http_requests`), and never sends a request.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from enum import Enum
from random import Random
from typing import Any, Final

NOT_HOT: Final = b"prefer: nothing\r\n"
"""A header with which the documented route answers a request (`api.operations.requests`)."""

JSON: Final = "application/json"
NDJSON: Final = "application/x-ndjson"


class Engine(Enum):
    """Where a server keeps its streams."""

    OWN = "own"
    """In its own storage."""
    NODE = "node"
    """In one Redis or Valkey: the server is a gateway."""
    CLUSTER = "cluster"
    """In a Cluster, whose masters have a replica each."""


@dataclass(frozen=True)
class HttpRequest:
    """One request. `raw`: its bytes. `plain`: bytes of a request with the same meaning that has no special
    form and is never hot. `key`: the stream in its path, "" without one. `may_wait`: it is a read that waits.
    `is_refused_late`: the store refuses it, after its body was found to be good. `shared`: the values that it
    appends to the shared stream."""

    kind: str
    raw: bytes
    plain: bytes
    key: str = ""
    is_head: bool = False
    may_wait: bool = False
    is_refused_late: bool = False
    shared: tuple[str, ...] = ()


@dataclass(frozen=True)
class Names:
    """What the requests of one connection name: `prefix` begins each of its keys and values, `shared` is the
    key of the shared stream, `token` a token for everything, `read_token` one for reads only. `engine`: of
    the server under test. `is_one_slot`: whether the keys of the connection are in one slot, if it is a
    Cluster."""

    prefix: str
    shared: str
    token: str
    read_token: str = ""
    engine: Engine = Engine.OWN
    is_one_slot: bool = True

    @property
    def keys(self) -> tuple[str, ...]:
        """The streams of the connection. Two differ in case only. The last one has a group, and entries with
        chosen ids."""
        return tuple(f"{self.prefix}{letter}" for letter in "aAg")

    @property
    def group_key(self) -> str:
        return self.keys[-1]


CLIENT_LINES: Final = (
    "Origin: http://localhost",
    "Sec-Fetch-Site: same-origin",
    "sec-fetch-mode: cors",
    'sec-ch-ua: "Chromium";v="142", "Not_A Brand";v="99"',
    "Referer: http://localhost/{}",
    "Cookie: session=1; theme={}",
    "X-Forwarded-For: 203.0.113.7, 10.0.0.{}",
    "Forwarded: for=203.0.113.7;proto=https",
    "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b71{:08x}-01",
    "tracestate: a=1",
    "User-Agent: fuzz/{}",
    "Accept-Language: de, en;q=0.5",
    "x-empty:",
    "x-spaces:  two ",
    "x-bytes: \u00e9",
    "Host-Name: elsewhere",
)


def request_bytes(token: str, method: str, path: str, body: object = None) -> bytes:
    """Return a request with a JSON body, or without a body if it is None."""
    content = b"" if body is None else encoded(body)
    return _head(method, path, *_authorization(token), *_framing(body, content)) + b"\r\n" + content


def encoded(body: object) -> bytes:
    """Return a value as compact JSON; bytes stay as they are."""
    return body if isinstance(body, bytes) else json.dumps(body, separators=(",", ":")).encode()


def _head(method: str, path: str, *lines: str) -> bytes:
    return "\r\n".join((f"{method} {path} HTTP/1.1", "host: localhost", *lines, "")).encode()


def _authorization(token: str) -> tuple[str, ...]:
    return (f"authorization: Bearer {token}",)


def _framing(body: object, content: bytes, media_type: str = JSON) -> tuple[str, ...]:
    return () if body is None else (f"content-type: {media_type}", f"content-length: {len(content)}")


def _request(kind: str, head: bytes, content: bytes, **properties: Any) -> HttpRequest:
    """Return a request. `head`: its lines."""
    plain = head + (b"" if NOT_HOT in head else NOT_HOT) + b"\r\n" + content
    return HttpRequest(kind, head + b"\r\n" + content, plain, **properties)


class RequestMaker:
    """Makes the bytes of the requests of one connection."""

    def __init__(self, chance: Random, names: Names) -> None:
        self._chance = chance
        self._names = names
        self._count = 0
        self._lines = 0

    def _value(self) -> str:
        """Return a new value; all of a connection have the same length."""
        self._count += 1
        return f"{self._names.prefix}{self._count:04}"

    def _entry(self) -> dict[str, Any]:
        return {"fields": {"v": self._value()}}

    def _made(
        self,
        kind: str,
        method: str,
        path: str,
        body: object = None,
        *lines: str,
        before: tuple[str, ...] = (),
        media_type: str = JSON,
        is_authorized: bool = True,
        **properties: Any,
    ) -> HttpRequest:
        """Return a request; sometimes after blank lines, or with a URL as its target. `lines`: of its head,
        `before`: those before the type and length of its body."""
        content = b"" if body is None else encoded(body)
        token = _authorization(self._names.token) if is_authorized else ()
        framing = _framing(body, content, media_type)
        head = _head(method, path, *token, *before, *framing, *lines, *self._of_client())
        request = _request(kind, head, content, key=_key_in(path), **properties)
        form = self._chance.random()
        if form < 0.03:
            return replace(request, raw=b"\r\n" * self._chance.randint(1, 3) + request.raw)
        if form < 0.06:
            return replace(request, raw=request.raw.replace(b" /", b" http://localhost/", 1))
        return request

    def _of_client(self) -> list[str]:
        """Return lines that a browser, a proxy or a tracer adds, and that mean nothing to the operation."""
        if self._chance.random() < 0.5:
            return []
        self._lines += 1
        lines = [line.format(self._lines) for line in CLIENT_LINES]
        return self._chance.sample(lines, self._chance.randint(1, len(lines)))

    def _chunked(self, kind: str, path: str, content: bytes, *before: str) -> HttpRequest:
        """Return a POST whose body comes in two chunks."""
        cut = self._chance.randrange(1, len(content))
        parts = cut, content[:cut], len(content) - cut, content[cut:]
        chunks = b"%x\r\n%b\r\n%x;x=1\r\n%b\r\n0\r\nx-trailer: 1\r\n\r\n" % parts
        lines = (
            *_authorization(self._names.token),
            *before,
            "transfer-encoding: chunked",
            f"content-type: {JSON}",
        )
        return _request(kind, _head("POST", path, *lines), chunks, key=_key_in(path))


def _key_in(path: str) -> str:
    return path.split("/")[3] if path.startswith("/v1/streams/") else ""
