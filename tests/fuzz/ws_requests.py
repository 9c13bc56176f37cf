"""Random requests for one WebSocket connection of a program (`ws_programs`).

The requests of a connection use streams that no other connection uses. The exception is the stream that all
connections of a program share. This module owns the kinds of requests, and how often each one is made. It
never makes messages of them.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Final

from tests.fuzz.http_bytes import Names
from tests.fuzz.ws_bytes import WsRequest

LARGE_BYTES: Final = 300_000
"""The value in a large append: more than the server decodes at once."""

GROUP: Final = "g"
CONSUMED_GROUP: Final = "k"
CONSUMER: Final = "x"
LONG_MS: Final = 600_000
"""An idle time that no entry reaches: a consumer claims only entries that were returned."""

FIRST_CREDITS: Final = (0, 1, 2, 5, 100, {"entries": 5}, {"entries": 50, "bytes": 60})


class Requests:
    """Makes the requests of one connection. `subs`: the ids of all subscriptions so far."""

    def __init__(self, chance: Random, names: Names) -> None:
        self._chance = chance
        self._names = names
        self._count = 0
        self._request_ids = 0
        self._entry_ids = 0
        self._consumed_ids = 0
        self._returns, self._claims = chance.random() < 0.5, chance.random() < 0.5
        self.subs: list[int | str] = []

    # --- what a connection begins and ends with ------------------------------------------------------

    def prepare(self) -> list[WsRequest]:
        """Return the requests that create the groups."""
        groups = (self._names.group_key, GROUP), (consumed_key(self._names), CONSUMED_GROUP)
        return [
            self._command("prepare", key, "XGROUP", "CREATE", key, name, "0", "MKSTREAM")
            for key, name in groups
        ]

    def some(self, count: int) -> list[WsRequest]:
        """Return random requests: of all kinds, or only appends without options, which the server executes
        together if they come in an array."""
        kinds = _PLAIN if self._chance.random() < 0.25 else _KINDS
        return [make(self) for make in self._chance.choices(list(kinds), list(kinds.values()), k=count)]

    # --- appends -------------------------------------------------------------------------------------

    def append(self) -> WsRequest:
        return self._append("append", self._key())

    def append_to_same(self) -> WsRequest:
        return self._append("append", self._names.keys[0])

    def append_shared(self) -> WsRequest:
        value = self._value()
        body = {"key": self._names.shared, "fields": {"v": value}}
        return self._made("shared", "append", body, self._names.shared, (value,), is_own=False)

    def append_pairs(self) -> WsRequest:
        value, key = self._value(), self._key()
        return self._made("pairs", "append", {"key": key, "pairs": [["v", value], ["f", "1"]]}, key, (value,))

    def append_to_missing(self) -> WsRequest:
        key = f"{self._names.prefix}none"
        return self._append("missing", key, nomkstream=True)

    def append_with_option(self) -> WsRequest:
        option: dict[str, Any] = self._chance.choice(
            (
                {"nomkstream": True},
                {"entry_id": "0-1"},
                {"entry_id": "*"},
                {"if_last_id": "0-0"},
                {"entry_id": "x"},
            )
        )
        return self._append("option", self._key(), **option)

    def append_trimming(self) -> WsRequest:
        length = self._chance.choice((1, 3, 20))
        return self._append("trim", self._names.keys[1], trim={"max_length": length})

    def append_in_words(self) -> WsRequest:
        value, key = self._value(), self._key()
        return self._command("words", key, "XADD", key, "*", "v", value, "f", "1", values=(value,))

    def append_large(self) -> WsRequest:
        return self._append("large", self._key(), pad="x" * LARGE_BYTES)

    def append_for_group(self) -> WsRequest:
        self._entry_ids += 1
        return self._append("group append", self._names.group_key, entry_id=f"{self._entry_ids}-1")

    def append_for_consumer(self) -> WsRequest:
        self._consumed_ids += 1
        return self._append("consumed append", consumed_key(self._names), entry_id=f"{self._consumed_ids}-1")

    # --- subscriptions ---------------------------------------------------------------------------------

    def subscribe(self) -> WsRequest:
        keys = self._chance.choice((self._names.keys[:1], self._names.keys[1:2], self._names.keys[:2]))
        streams = [{"key": key, "after": self._chance.choice(("0", "0", "$", "$", "+"))} for key in keys]
        body: dict[str, Any] = {"streams": streams, "credit": self._chance.choice(FIRST_CREDITS)}
        if self._chance.random() < 0.3:
            body["filter"] = self._chance.choice(({"f": "1"}, {"f": ["1", "2"]}, 'fields.f != "2"'))
        # The position `+` is just below the last entry; an entry may have this id, or none.
        is_own = all(stream["after"] != "+" for stream in streams)
        # Positions of two streams could be equal, so they cannot be compared by their order.
        return self._opened("subscribe", body, keys[0] if len(keys) == 1 else "", is_own=is_own)

    def consume(self) -> WsRequest:
        key = consumed_key(self._names)
        body = {
            "group": CONSUMED_GROUP,
            "consumer": CONSUMER,
            "streams": [{"key": key}],
            "credit": self._chance.choice(FIRST_CREDITS),
        }
        if self._returns:
            body["on_close"] = "nack"
        if self._claims:
            body["claim_min_idle_ms"] = LONG_MS
        return self._opened("consume", body, key)

    def credit(self) -> WsRequest:
        body: dict[str, Any] = {"sub": self._sub(), "entries": self._chance.choice((0, 1, 2, 10, 1000))}
        if self._chance.random() < 0.1:
            body["bytes"] = self._chance.choice((10, 1000))
        return self._made("credit", "credit", body, is_own=False)

    def unsubscribe(self) -> WsRequest:
        return self._made("unsubscribe", "unsubscribe", {"sub": self._sub()})

    def ack_consumed(self) -> WsRequest:
        return self._of_consumer("ack", {})

    def nack_consumed(self) -> WsRequest:
        return self._of_consumer("nack", {"mode": self._chance.choice(("fail", "silent"))})

    # --- groups ------------------------------------------------------------------------------------------

    def read_group(self) -> WsRequest:
        key, consumer = self._names.group_key, self._chance.choice("xy")
        words = ["XREADGROUP", "GROUP", GROUP, consumer, "COUNT", self._chance.choice("15")]
        if self._chance.random() < 0.3:
            words += ["BLOCK", "5000"]
        return self._command("read group", key, *words, "STREAMS", key, self._chance.choice((">", ">", "0")))

    def ack(self) -> WsRequest:
        return self._of_group("ack", {"ids": self._group_ids()})

    def ack_and_delete(self) -> WsRequest:
        return self._of_group("ack", {"ids": self._group_ids(), "delete": True})

    def nack(self) -> WsRequest:
        mode = self._chance.choice(("fail", "silent", "fatal"))
        return self._of_group("nack", {"ids": self._group_ids(), "mode": mode})

    def claim(self) -> WsRequest:
        just_id = {"just_id": True} if self._chance.random() < 0.5 else {}
        consumer = self._chance.choice("xyz")
        return self._of_group(
            "claim", {"ids": self._group_ids(), "consumer": consumer, "min_idle_ms": 0, **just_id}
        )

    def extend(self) -> WsRequest:
        return self._of_group("extend", {"ids": self._group_ids(), "consumer": self._chance.choice("xy")})

    def pending(self) -> WsRequest:
        return self._command("pending", self._names.group_key, "XPENDING", self._names.group_key, GROUP)

    # --- reads -------------------------------------------------------------------------------------------

    def length(self) -> WsRequest:
        key = self._key()
        return self._command("length", key, "XLEN", key)

    def range(self) -> WsRequest:
        key = self._key()
        if self._chance.random() < 0.5:
            return self._command("range", key, "XRANGE", key, "-", "+")
        return self._command("range", key, "XREVRANGE", key, "+", "-", "COUNT", "2")

    def read_waiting(self) -> WsRequest:
        key = self._key()
        return self._command(
            "read", key, "XREAD", "BLOCK", "5000", "COUNT", "2", "STREAMS", key, self._chance.choice("0$")
        )

    def ping(self) -> WsRequest:
        return self._made("ping", "ping", {})

    # --- refused -----------------------------------------------------------------------------------------

    def refused(self) -> WsRequest:
        """Return a request that the server refuses."""
        key = self._names.keys[0]
        op, body = self._chance.choice(
            (
                ("none", {}),
                (7, {}),
                ("append", {"key": key}),
                ("append", {"key": key, "fields": {}}),
                ("append", {"key": key, "fields": {"v": "1"}, "more": 1}),
                ("append", {"key": key, "fields": {"v": "1"}, "trim": {}}),
                ("append", {"key": 1, "fields": {"v": "1"}}),
                ("command", {"command": ["NOPE"]}),
                ("command", {"command": ["XADD", key, "*"]}),
                ("command", {"command": []}),
                ("subscribe", {"streams": []}),
                ("subscribe", {"streams": [{"key": key, "after": "x"}]}),
                ("subscribe", {"streams": [{"key": key, "after": "0"}], "filter": "fields."}),
                ("consume", {"group": "none", "consumer": "x", "streams": [{"key": key}]}),
                ("ack", {"key": key, "group": "none", "ids": ["1-1"]}),
                ("ack", {"key": key, "group": "g", "ids": []}),
                ("claim", {"key": key, "group": "g", "ids": ["1-1"]}),
                ("unsubscribe", {"sub": "none"}),
                ("credit", {"sub": "none", "entries": 1}),
                ("credit", {"sub": 1, "entries": -1}),
                ("ping", {"more": 1}),
            )
        )
        return self._made("refused", op, dict(body), key)

    def without_id(self) -> WsRequest:
        bodies: tuple[Any, ...] = (
            {"op": "ping"},
            {"id": True, "op": "ping"},
            {"id": 1.5, "op": "ping"},
            {"id": None},
            {},
            7,
            "x",
            None,
        )
        return WsRequest("no id", self._chance.choice(bodies))

    # --- parts -------------------------------------------------------------------------------------------

    def _made(
        self,
        kind: str,
        op: object,
        body: dict[str, Any],
        key: str = "",
        values: tuple[str, ...] = (),
        *,
        is_own: bool = True,
    ) -> WsRequest:
        return WsRequest(kind, {"id": self._id(), "op": op, **body}, key, values, is_own)

    def _id(self) -> int | str:
        self._request_ids += 1
        return self._request_ids if self._chance.random() < 0.8 else f"é{self._request_ids}"

    def _opened(self, op: str, body: dict[str, Any], key: str, *, is_own: bool = True) -> WsRequest:
        made = self._made(op, op, body, key, is_own=is_own)
        if self.subs and self._chance.random() < 0.2:
            made.body["id"] = self._sub()
        self.subs.append(made.body["id"])
        return made

    def _append(self, kind: str, key: str, pad: str = "", **options: Any) -> WsRequest:
        value = self._value()
        fields = {"v": value, "f": self._chance.choice("012")}
        if pad:
            fields["pad"] = pad
        return self._made(kind, "append", {"key": key, "fields": fields, **options}, key, (value,))

    def _command(self, kind: str, key: str, *words: str, values: tuple[str, ...] = ()) -> WsRequest:
        return self._made(kind, "command", {"command": list(words)}, key, values)

    def _of_group(self, op: str, body: dict[str, Any]) -> WsRequest:
        key = self._names.group_key
        return self._made(op, op, {"key": key, "group": GROUP, **body}, key)

    def _of_consumer(self, op: str, more: dict[str, Any]) -> WsRequest:
        key, numbers = (
            consumed_key(self._names),
            {self._chance.randint(1, self._consumed_ids + 1) for _ in "123"},
        )
        ids = [f"{number}-1" for number in sorted(numbers)]
        body = {"key": key, "group": CONSUMED_GROUP, "ids": ids, **more}
        return self._made(f"{op} consumed", op, body, key, is_own=False)

    def _group_ids(self) -> list[str]:
        numbers = {self._chance.randint(1, self._entry_ids + 1) for _ in range(2)}
        return [f"{number}-1" for number in sorted(numbers)]

    def _value(self) -> str:
        self._count += 1
        return f"{self._names.prefix}{self._count:04}"

    def _key(self) -> str:
        return self._chance.choice(self._names.keys[:2])

    def _sub(self) -> int | str:
        return self._chance.choice(self.subs) if self.subs else "none"


def consumed_key(names: Names) -> str:
    """Return the stream that a connection consumes with a subscription."""
    return f"{names.prefix}c"


_KINDS: Final[dict[Callable[[Requests], WsRequest], int]] = {
    Requests.append: 20,
    Requests.append_shared: 12,
    Requests.append_pairs: 3,
    Requests.append_to_missing: 3,
    Requests.append_with_option: 6,
    Requests.append_trimming: 3,
    Requests.append_in_words: 4,
    Requests.append_large: 1,
    Requests.append_for_group: 6,
    Requests.append_for_consumer: 10,
    Requests.subscribe: 6,
    Requests.consume: 4,
    Requests.credit: 8,
    Requests.unsubscribe: 4,
    Requests.ack_consumed: 5,
    Requests.nack_consumed: 3,
    Requests.read_group: 6,
    Requests.ack: 3,
    Requests.ack_and_delete: 1,
    Requests.nack: 2,
    Requests.claim: 2,
    Requests.extend: 1,
    Requests.pending: 2,
    Requests.length: 4,
    Requests.range: 3,
    Requests.read_waiting: 2,
    Requests.ping: 3,
    Requests.refused: 5,
    Requests.without_id: 2,
}
"""How often each kind of request is made, of about a hundred."""

_PLAIN: Final[dict[Callable[[Requests], WsRequest], int]] = {
    Requests.append_to_same: 8,
    Requests.append_shared: 2,
    Requests.append: 1,
}
"""Appends without options."""
