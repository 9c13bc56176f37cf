"""The requests of one client while the connections of its gateway are cut, and what takes their answers.

The right answer to each request names its client and its value, so an answer to another request is noticed.
This module owns the kinds of requests. It never sends one.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any, Final, NamedTuple

from tests.fuzz.http_bytes import NOT_HOT, request_bytes
from tests.fuzz.http_client import Answer
from tests.remote.lost_connections.outcome import GROUP, Outcome, Pair, require_documented

FIXED: Final = 5
"""The fixed stream of client `n` has this number of entries, and `n` more."""

WAIT_MS: Final = 20
LONG_MS: Final = 60_000
LARGE_BYTES: Final = 300_000


class Sent(NamedTuple):
    """A request, and what takes its answer. `raw`: its bytes."""

    raw: bytes
    take: Callable[[Answer], None]
    leave: Callable[[], None] = lambda: None
    """Called instead if the client leaves before the answer."""


class Requests:
    """Makes the requests of one client. `name`: begins all keys of a round. `shared`: the stream that all
    clients share. `own`: one that no other client changes. `fixed`: one that never changes, with `size`
    entries."""

    def __init__(self, token: str, name: str, number: int, chance: Random, outcome: Outcome) -> None:
        self.shared = f"{name}-shared"
        self.own = f"{name}-own-{number}"
        self.fixed = f"{name}-fixed-{number}"
        self.size = FIXED + number
        self._token = token
        self._number = number
        self._chance = chance
        self._outcome = outcome
        self._values = 0
        self._to_ack: list[Pair] = []

    def _raw(self, method: str, path: str, body: object = None, *lines: str) -> bytes:
        raw = request_bytes(self._token, method, path, body)
        further = "".join(f"{line}\r\n" for line in lines).encode()
        if self._chance.random() < 0.3:
            further += NOT_HOT
        return raw.replace(b"\r\n\r\n", b"\r\n" + further + b"\r\n", 1)

    def _value(self) -> str:
        self._values += 1
        return f"v{self._number}-{self._values}"

    def append(self) -> Sent:
        key, value = self._chance.choice((self.own, self.own, self.shared)), self._value()
        raw = self._raw("POST", f"/v1/streams/{key}/entries", {"fields": {"v": value}})
        return self._appended(raw, [(key, value)], lambda reply: [reply["id"]])

    def append_large(self) -> Sent:
        """Append a value that fills the room of a connection to the engine."""
        value = self._value() + "x" * LARGE_BYTES
        raw = self._raw("POST", f"/v1/streams/{self.own}/entries", {"fields": {"v": value}})
        return self._appended(raw, [(self.own, value)], lambda reply: [reply["id"]])

    def append_batch(self) -> Sent:
        pairs = [(self.own, self._value()) for _ in range(3)]
        body = {"entries": [{"fields": {"v": value}} for _, value in pairs]}
        raw = self._raw("POST", f"/v1/streams/{self.own}/entries:batch", body)
        return self._appended(raw, pairs, lambda reply: [reply["first_id"], None, reply["last_id"]])

    def append_with_key(self) -> Sent:
        value = self._value()
        lines = (f"producer-id: p{self._number}", f"idempotency-key: {value}")
        raw = self._raw("POST", f"/v1/streams/{self.own}/entries", {"fields": {"v": value}}, *lines)
        return self._appended(raw, [(self.own, value)], lambda reply: [reply["id"]])

    def _appended(self, raw: bytes, pairs: list[Pair], ids_of: Callable[[Any], list[str | None]]) -> Sent:
        def take(answer: Answer) -> None:
            if answer.status == 201:
                for pair, entry_id in zip(pairs, ids_of(json.loads(answer.body)), strict=True):
                    self._outcome.acknowledged[pair] = entry_id or ""
            else:
                self._note_refused(answer, pairs)

        self._outcome.together.append(pairs)
        return Sent(raw, take, lambda: self._outcome.unknown.update(pairs))

    def _note_refused(self, answer: Answer, pairs: list[Pair]) -> None:
        known = self._outcome.refused if self._is_without_effect(answer) else self._outcome.unknown
        known.update(pairs)

    def _is_without_effect(self, answer: Answer) -> bool:
        effect = require_documented(answer)
        self._outcome.statuses[effect] += 1
        return effect == "none"

    def _read(
        self, raw: bytes, check: Callable[[Any], None], leave: Callable[[], None] = lambda: None
    ) -> Sent:
        def take(answer: Answer) -> None:
            if answer.status == 200:
                check(json.loads(answer.body))
            else:
                self._is_without_effect(answer)

        return Sent(raw, take, leave)

    def length(self) -> Sent:
        raw = self._raw("GET", f"/v1/streams/{self.fixed}/length")

        def check(reply: Any) -> None:
            assert reply == {"length": self.size}, (self.fixed, reply)

        return self._read(raw, check)

    def one_entry(self) -> Sent:
        at = self._chance.randint(1, self.size)
        raw = self._raw("GET", f"/v1/streams/{self.fixed}/entries?start={at}-1&end={at}-1")

        def check(reply: Any) -> None:
            [entry] = reply["entries"]
            assert (entry["id"], entry["fields"]) == (f"{at}-1", {"v": f"{self.fixed}-{at}"}), reply

        return self._read(raw, check)

    def waiting_range(self) -> Sent:
        at = self._chance.randint(1, self.size)
        raw = self._raw("GET", f"/v1/streams/{self.fixed}/entries?after={at}-0&count=1&wait_ms={WAIT_MS}")

        def check(reply: Any) -> None:
            [entry] = reply["entries"]
            assert entry["fields"] == {"v": f"{self.fixed}-{at}"}, reply

        return self._read(raw, check)

    def pipeline(self) -> Sent:
        at, first, second = self._chance.randint(1, self.size), self._value(), self._value()
        pairs = [(self.own, first), (self.own, second)]
        commands = [
            ["XADD", self.own, "*", "v", first],
            ["XLEN", self.fixed],
            ["XRANGE", self.fixed, f"{at}-1", f"{at}-1"],
            ["XADD", self.own, "*", "v", second],
            ["PING"],
        ]
        is_atomic = self._chance.random() < 0.4
        if is_atomic:  # all of its keys are in one slot
            commands[1], commands[2] = ["XLEN", self.own], ["XRANGE", self.own, "-", "+", "COUNT", "1"]
        path = "/v1/command/multi-exec" if is_atomic else "/v1/command/pipeline"
        raw = self._raw("POST", path, commands)

        def take(answer: Answer) -> None:
            if answer.status != 200:
                assert is_atomic, answer
                self._note_refused(answer, pairs)
                return
            replies = json.loads(answer.body)
            assert len(replies) == 5, replies
            assert replies[4] == {"result": "PONG"}, replies
            for pair, reply in ((pairs[0], replies[0]), (pairs[1], replies[3])):
                if "result" in reply:
                    self._outcome.acknowledged[pair] = reply["result"]
                else:
                    self._outcome.statuses["item"] += 1
                    self._outcome.unknown.add(pair)
            if not is_atomic:
                assert replies[1].get("result", self.size) == self.size, replies
                row = [[f"{at}-1", ["v", f"{self.fixed}-{at}"]]]
                assert replies[2].get("result", row) == row, replies

        if is_atomic:
            self._outcome.together.append(pairs)
        return Sent(raw, take, lambda: self._outcome.unknown.update(pairs))

    def read_group(self) -> Sent:
        """Read a group for new entries, of the own stream or of the shared one, often with a wait."""
        key = self._chance.choice((self.own, self.shared))
        wait = {"wait_ms": WAIT_MS} if self._chance.random() < 0.5 else {}
        body = {"group": GROUP, "consumer": f"c{self._number}", "streams": [{"key": key}], "count": 2, **wait}

        def check(reply: Any) -> None:
            for stream in reply["streams"]:
                assert stream["key"] == key, reply
                for entry in stream["entries"]:
                    assert key == self.shared or entry["fields"]["v"].startswith(f"v{self._number}-"), reply
                    self._outcome.delivered[key, entry["id"]] += 1
                    self._to_ack.append((key, entry["id"]))

        return self._read(self._raw("POST", "/v1/read-group", body), check)

    def wait_for_shared(self) -> Sent:
        """Read the shared group with a long wait."""
        streams = [{"key": self.shared}]
        body = {"group": GROUP, "consumer": "visitor", "streams": streams, "count": 1, "wait_ms": LONG_MS}

        def check(reply: Any) -> None:
            for stream in reply["streams"]:
                for entry in stream["entries"]:
                    self._outcome.delivered[self.shared, entry["id"]] += 1

        return self._read(self._raw("POST", "/v1/read-group", body), check)

    def ack(self) -> Sent:
        if not self._to_ack:
            return self.length()
        key, entry_id = pair = self._to_ack.pop(0)
        raw = self._raw("POST", f"/v1/streams/{key}/groups/{GROUP}:ack", {"ids": [entry_id]})

        def take(answer: Answer) -> None:
            if answer.status == 200:
                assert json.loads(answer.body) == {"acknowledged": 1}, answer
                self._outcome.acked.add(pair)
            elif not self._is_without_effect(answer):
                self._outcome.maybe_acked.add(pair)

        return Sent(raw, take, lambda: self._outcome.maybe_acked.add(pair))

    def some(self, count: int) -> list[Sent]:
        """Return random requests."""
        return [make(self) for make in self._chance.choices(list(_KINDS), list(_KINDS.values()), k=count)]

    def fixed_entries(self) -> list[bytes]:
        """Return the requests that fill the fixed stream."""
        path = f"/v1/streams/{self.fixed}/entries"
        bodies = [{"fields": {"v": f"{self.fixed}-{at}"}, "id": f"{at}-1"} for at in range(1, self.size + 1)]
        return [self._raw("POST", path, body) for body in bodies]

    def group(self, key: str) -> bytes:
        """Return the request that creates a stream with its group."""
        body = {"after": "0", "create_stream": True}
        return self._raw("PUT", f"/v1/streams/{key}/groups/{GROUP}", body)


_KINDS: Final[dict[Callable[[Requests], Sent], int]] = {
    Requests.append: 30,
    Requests.append_large: 2,
    Requests.append_batch: 5,
    Requests.append_with_key: 8,
    Requests.length: 12,
    Requests.one_entry: 12,
    Requests.waiting_range: 4,
    Requests.pipeline: 8,
    Requests.read_group: 12,
    Requests.ack: 10,
}
