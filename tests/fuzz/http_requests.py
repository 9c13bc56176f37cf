"""Random HTTP requests for one connection of a program (`http_programs`).

The requests of a connection use streams that no other connection uses, so their answers depend on each other
only. The exceptions are appends to the stream that all connections of a program share. This module owns the
kinds of requests, and how often each one is made. It never sends a request.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Final

from tests.fuzz.http_bytes import JSON, NDJSON, HttpRequest, Names, encoded
from tests.fuzz.http_commands import CommandMaker
from tests.fuzz.http_keyed import BROKEN, ODD, PLAIN, Lines, filled

LARGE_BYTES: Final = 300_000
"""The value in a large body: more than one read of the server."""

REPEATED_SHARE: Final = 0.7
"""The share of bursts that have only requests whose heads the server caches, or that have mostly keys."""

KEYED_SHARE: Final = 0.25
"""The share of bursts that have mostly appends with keys."""

_KEYED_VALUES: Final = ("x", "y", "longer", "\r\nIdempotency-Key: 1")

BAD_BODIES: Final = (b'{"fields":', b"{}", b"[1]", b'{"fields":{}}', b'{"fields":{"v":"1"},"id":7}')


class Requests(CommandMaker):
    """Makes the requests of one connection."""

    def __init__(self, chance: Random, names: Names) -> None:
        super().__init__(chance, names)
        [self._form] = chance.choices(PLAIN, (4, *(1 for _ in PLAIN[1:])))

    def prepare(self) -> HttpRequest:
        """Return the request that creates the group."""
        body = {"after": "0", "create_stream": True}
        return self._made("prepare", "PUT", f"/v1/streams/{self._names.group_key}/groups/g", body)

    def first_ones(self) -> list[HttpRequest]:
        """Return requests whose heads the server caches if each of them is a read of its own."""
        kinds = list(_REPEATED)
        return [make(self) for make in self._chance.sample(kinds, self._chance.randint(0, len(kinds)))]

    def some(self, count: int) -> list[HttpRequest]:
        """Return random requests: of all kinds, or only of those whose heads the server caches, which it
        answers in one run, or mostly with keys."""
        form = self._chance.random()
        kinds = _KEYED if form < KEYED_SHARE else _REPEATED if form < REPEATED_SHARE else _KINDS
        return [make(self) for make in self._chance.choices(list(kinds), list(kinds.values()), k=count)]

    def last(self) -> HttpRequest:
        """Return a request after which the server ends the connection."""
        form = self._chance.random()
        if form < 0.4:
            return HttpRequest("not HTTP", b"nonsense\r\n\r\n", b"nonsense\r\n\r\n")
        if form < 0.7:
            return self._keyed("broken key", Lines((self._chance.choice(BROKEN), "Producer-Id: {producer}")))
        return self._made("close", "GET", self._path("length"), None, "connection: close")

    def refused_after_append(self) -> tuple[list[HttpRequest], list[HttpRequest]]:
        """Return requests for a piece each, and some with the same heads for one piece: an append, and one
        that is refused for its body, or by the store with another append after it."""
        good, path = self._entry(), self._path("entries")
        same = [self._made("same head", "POST", path, body) for body in (good, self._entry(), _bad(good))]
        if self._chance.random() < 0.5:
            return same[:1], same[1:]
        after = self._made("same head", "POST", path, self._entry())
        return [same[0], self.append_to_missing()], [same[1], self.append_to_missing(), after]

    # --- appends -----------------------------------------------------------------------------------

    def append(self) -> HttpRequest:
        return self._appended("append", self._entry())

    def append_shared(self) -> HttpRequest:
        value = self._value()
        path = f"/v1/streams/{self._names.shared}/entries"
        return self._made("shared", "POST", path, {"fields": {"v": value}}, shared=(value,))

    def append_shared_batch(self) -> HttpRequest:
        values = self._value(), self._value()
        path = f"/v1/streams/{self._names.shared}/entries:batch"
        body = {"entries": [{"fields": {"v": value}} for value in values]}
        return self._made("shared batch", "POST", path, body, shared=values)

    def append_documented(self) -> HttpRequest:
        return self._appended("documented", self._entry(), "prefer: nothing")

    def append_to_missing(self) -> HttpRequest:
        path = f"/v1/streams/{self._names.prefix}none/entries"
        body = {**self._entry(), "nomkstream": True}
        return self._made("missing", "POST", path, body, is_refused_late=True)

    def append_with_option(self) -> HttpRequest:
        option = self._chance.choice(
            (
                {"nomkstream": True},
                {"trim": {"max_length": 3}},
                {"trim": {"max_length": 100}},
                {"id": "0-1"},
                {"if_last_id": "0-0"},
            )
        )
        return self._appended("option", {**self._entry(), **option})

    def append_keyed(self) -> HttpRequest:
        """Append with an idempotency key, often one that was used before, with another body or the same."""
        return self._keyed("key", self._form)

    def append_oddly_keyed(self) -> HttpRequest:
        """Append with a head that is almost that of another append with a key."""
        return self._keyed("odd key", self._chance.choice(ODD if self._form is PLAIN[0] else (*ODD, *PLAIN)))

    def append_keyed_in_chunks(self) -> HttpRequest:
        content = encoded(self._keyed_entry())
        before, after = filled(self._chance, self._form, len(content))
        return self._chunked("key, chunked", self._path("entries"), content, *before, *after)

    def append_for_group(self) -> HttpRequest:
        self._ids += 1
        body = {**self._entry(), "id": f"{self._ids}-1"}
        return self._made("group append", "POST", f"/v1/streams/{self._names.group_key}/entries", body)

    def append_batch(self) -> HttpRequest:
        body = {"entries": [self._entry(), self._entry()]}
        return self._made("batch", "POST", self._path("entries:batch"), body)

    def append_in_words(self) -> HttpRequest:
        return self._made("words", "POST", "/v1/command", ["XADD", self._key(), "*", "v", self._value()])

    def append_chunked(self) -> HttpRequest:
        return self._chunked("chunked", self._path("entries"), encoded(self._entry()))

    def append_expecting(self) -> HttpRequest:
        return self._appended("expect", self._entry(), "expect: 100-continue")

    def append_large(self) -> HttpRequest:
        return self._appended("large", {"fields": {"v": self._value(), "pad": "x" * LARGE_BYTES}})

    # --- refused -----------------------------------------------------------------------------------

    def bad_body(self) -> HttpRequest:
        """Often the body has the length of a good one, and so the request has the head of a good one."""
        body = _bad(self._entry()) if self._chance.random() < 0.7 else self._chance.choice(BAD_BODIES)
        return self._made("bad body", "POST", self._path("entries"), body)

    def wrong_token(self) -> HttpRequest:
        line = self._chance.choice(
            ((), ("authorization: Bearer tr_none_wrong",), ("authorization: Basic eA==",))
        )
        if self._chance.random() < 0.5:
            return self._made("wrong token", "GET", self._path("entries"), None, *line, is_authorized=False)
        readable = (f"authorization: Bearer {self._names.read_token}",)
        form = Lines((*self._chance.choice((line, readable)), *self._form.before), self._form.after)
        return self._keyed("wrong token", form, is_authorized=False)

    # --- reads -------------------------------------------------------------------------------------

    def length(self) -> HttpRequest:
        return self._made("length", "GET", self._path("length"))

    def range(self) -> HttpRequest:
        query = self._chance.choice(("", "?count=2", "?order=desc&count=2", "?start=0", "?after=0"))
        return self._made("range", "GET", self._path("entries") + query)

    def head(self) -> HttpRequest:
        return self._made("head", "HEAD", self._path("entries"), is_head=True)

    def read(self) -> HttpRequest:
        streams = [{"key": key, "after": "0"} for key in self._names.keys]
        return self._made("read", "POST", "/v1/read", {"streams": streams, "count": 2})

    def waiting_range(self) -> HttpRequest:
        path = f"/v1/streams/{self._names.prefix}a/entries?after=$&wait_ms=2"
        return self._made("waiting range", "GET", path, may_wait=True)

    def read_group(self) -> HttpRequest:
        wait = {"wait_ms": 2} if self._chance.random() < 0.3 else {}
        count, consumer = self._chance.choice((1, 5)), self._chance.choice("xy")
        streams = [{"key": self._names.group_key, "id": self._chance.choice((">", ">", "0"))}]
        body = {"group": "g", "consumer": consumer, "streams": streams, "count": count, **wait}
        return self._made("read group", "POST", "/v1/read-group", body, may_wait=bool(wait))

    def ack(self) -> HttpRequest:
        ids = [f"{self._chance.randint(1, self._ids + 1)}-1" for _ in range(2)]
        path = f"/v1/streams/{self._names.group_key}/groups/g:ack"
        return self._made("ack", "POST", path, {"ids": sorted(set(ids))})

    def pending(self) -> HttpRequest:
        return self._made("pending", "GET", f"/v1/streams/{self._names.group_key}/groups/g/pending")

    def _key(self) -> str:
        return self._chance.choice(self._names.keys[:2])

    def _path(self, rest: str) -> str:
        return f"/v1/streams/{self._key()}/{rest}"

    def _keyed_entry(self) -> object:
        return {"fields": {"v": f"{self._names.prefix}{self._chance.choice(_KEYED_VALUES)}"}}

    def _keyed(self, kind: str, form: Lines, **properties: Any) -> HttpRequest:
        """Return an append of one entry, of two, or of two lines, with a key."""
        [route] = self._chance.choices(("", ":batch", ":import"), (70, 10, 20))
        entry = self._keyed_entry()
        body: object = entry
        if route == ":batch":
            body = {"entries": [entry, entry]}
        elif route == ":import":
            body = b'{"v":"1"}\n' * self._chance.choice((2, 200))
        if self._chance.random() < 0.1:
            body = b"\r\nIdempotency-Key: 1\r\n\r\n"
        before, after = filled(self._chance, form, len(encoded(body)))
        path = f"/v1/streams/{self._names.keys[0]}/entries{route}"
        media_type = NDJSON if route == ":import" else JSON
        return self._made(
            kind, "POST", path, body, *after, before=before, media_type=media_type, **properties
        )

    def _appended(self, kind: str, body: object, *lines: str) -> HttpRequest:
        return self._made(kind, "POST", self._path("entries"), body, *lines)


def _bad(entry: object) -> bytes:
    """Return a body that is not JSON, with the length of that of the entry."""
    return encoded(entry)[:-2] + b"]}"


_KINDS: Final[dict[Callable[[Requests], HttpRequest], int]] = {
    Requests.append: 30,
    Requests.append_shared: 12,
    Requests.append_shared_batch: 2,
    Requests.append_documented: 3,
    Requests.append_to_missing: 8,
    Requests.append_with_option: 6,
    Requests.append_keyed: 12,
    Requests.append_oddly_keyed: 8,
    Requests.append_keyed_in_chunks: 1,
    Requests.append_for_group: 6,
    Requests.append_batch: 2,
    Requests.append_in_words: 2,
    Requests.append_chunked: 3,
    Requests.append_expecting: 2,
    Requests.append_large: 1,
    Requests.bad_body: 8,
    Requests.wrong_token: 3,
    Requests.length: 8,
    Requests.range: 4,
    Requests.head: 2,
    Requests.read: 2,
    Requests.waiting_range: 2,
    Requests.read_group: 6,
    Requests.ack: 4,
    Requests.pending: 2,
    Requests.pipeline: 4,
    Requests.transaction: 2,
}
"""How often each kind of request is made, of about a hundred."""

_REPEATED: Final[dict[Callable[[Requests], HttpRequest], int]] = {
    Requests.append: 35,
    Requests.append_shared: 10,
    Requests.append_keyed: 20,
    Requests.append_oddly_keyed: 4,
    Requests.append_to_missing: 15,
    Requests.bad_body: 12,
    Requests.length: 15,
    Requests.read_group: 5,
    Requests.ack: 4,
    Requests.pending: 4,
}
"""The kinds that the server answers without its documented routes, if it does not refuse them."""

_KEYED: Final[dict[Callable[[Requests], HttpRequest], int]] = {
    Requests.append_keyed: 60,
    Requests.append_oddly_keyed: 20,
    Requests.wrong_token: 10,
    Requests.append: 10,
    Requests.bad_body: 2,
}
"""Appends whose heads differ in values of their own, and others whose heads are almost equal."""
