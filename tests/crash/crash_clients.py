"""Clients of the kill rounds: each sends commands until the server is gone, and keeps its log."""

from __future__ import annotations

import http.client
import random
import time
from typing import Any

import msgspec

from tests.crash.client_log import ClientLog, GroupLog, Id, id_of, text_of

SHARED_KEY = "shared"
GROUPS = ("g", "h")
CONSUMERS = ("alice", "bob")
JSON = {"content-type": "application/json"}
NDJSON = {"content-type": "application/x-ndjson"}
GONE = (OSError, http.client.HTTPException)


class Connection:
    """Commands over HTTP; raises one of `GONE` where no answer came."""

    def __init__(self, port: int) -> None:
        self._http = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    def command(self, *words: str) -> Any:
        return self._post("/v1/command", msgspec.json.encode(words), JSON)["result"]

    def import_entries(self, key: str, lines: bytes) -> Any:
        return self._post(f"/v1/streams/{key}/entries:import", lines, NDJSON)

    def get(self, path: str) -> Any:
        return self._answer_to("GET", path, b"", {})

    def _post(self, path: str, body: bytes, headers: dict[str, str]) -> Any:
        return self._answer_to("POST", path, body, headers)

    def _answer_to(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> Any:
        self._http.request(method, path, body, headers)
        response = self._http.getresponse()
        answer = response.read()
        assert response.status in (200, 201), (path, body[:200], answer)
        return msgspec.json.decode(answer)


class Client:
    """A client that knows the whole state of its own stream, and also appends to a shared stream.

    `unknown`: the command that was under way when the server went.
    """

    def __init__(self, name: str, seed: int) -> None:
        self.key = f"own:{name}"
        self.log = ClientLog()
        self.shared: dict[Id, str] = {}
        self.shared_unknown: set[str] = set()
        self.unknown: list[str] | None = None
        self.answered = 0
        self._random = random.Random(seed)
        self._sent = 0

    def run(self, port: int) -> None:
        """Send commands until the server has ended."""
        connection = Connection(port)
        try:
            while True:
                self._step(connection)
                self.answered += 1
        except GONE:
            return

    def _step(self, connection: Connection) -> None:
        if self._random.random() < 0.2:
            self._append_shared(connection)
            return
        self.unknown = self._next()
        answer = connection.command(*self.unknown)
        new_id = id_of(answer) if self.unknown[0] == "XADD" else None
        expected = self.log.apply(self.unknown, new_id)
        assert answer == expected, (self.unknown, answer, expected)
        self.unknown = None

    def _append_shared(self, connection: Connection) -> None:
        value = self._value()
        self.shared_unknown.add(value)
        self.shared[id_of(connection.command("XADD", SHARED_KEY, "*", "n", value))] = value
        self.shared_unknown.remove(value)

    def _value(self) -> str:
        self._sent += 1
        return f"{self.key}:{self._sent}"

    # --- what to send --------------------------------------------------------------------------

    def _next(self) -> list[str]:
        makers = [self._append] * 5 + [self._read] * 4 + [self._ack] * 3 + [self._claim] * 2
        make = self._random.choice([*makers, self._delete, self._trim, self._change_group])
        return make() or self._append()

    def _append(self) -> list[str]:
        return ["XADD", self.key, "*", "n", self._value()]

    def _group(self) -> tuple[str, GroupLog] | None:
        name = self._random.choice(GROUPS)
        found = self.log.groups.get(name)
        return None if found is None else (name, found)

    def _create(self, group: str) -> list[str]:
        return ["XGROUP", "CREATE", self.key, group, "0-0", "MKSTREAM"]

    def _read(self) -> list[str]:
        found = self._group()
        if found is None:
            missing = [each for each in GROUPS if each not in self.log.groups]
            return self._create(missing[0])
        count = str(self._random.choice([1, 3, 10]))
        consumer = self._random.choice(CONSUMERS)
        return ["XREADGROUP", "GROUP", found[0], consumer, "COUNT", count, "STREAMS", self.key, ">"]

    def _some_pending(self, group: GroupLog) -> list[str]:
        ids = sorted(each for each in group.pending if each in self.log.entries)
        return [text_of(each) for each in self._random.sample(ids, min(len(ids), 4))]

    def _ack(self) -> list[str] | None:
        found = self._group()
        ids = self._some_pending(found[1]) if found else []
        return ["XACK", self.key, found[0], *ids] if found and ids else None

    def _claim(self) -> list[str] | None:
        found = self._group()
        ids = self._some_pending(found[1]) if found else []
        consumer = self._random.choice(CONSUMERS)
        return ["XCLAIM", self.key, found[0], consumer, "0", *ids] if found and ids else None

    def _delete(self) -> list[str] | None:
        ids = self._random.sample(sorted(self.log.entries), min(len(self.log.entries), 2))
        return ["XDEL", self.key, *map(text_of, ids)] if ids else None

    def _trim(self) -> list[str] | None:
        return ["XTRIM", self.key, "MAXLEN", "=", str(self._random.choice([50, 300]))]

    def _change_group(self) -> list[str] | None:
        found = self._group()
        if found is None:
            return None
        if self._random.random() < 0.3:
            return ["XGROUP", "DESTROY", self.key, found[0]]
        if self._random.random() < 0.5:
            return ["XGROUP", "DELCONSUMER", self.key, found[0], self._random.choice(CONSUMERS)]
        return ["XGROUP", "SETID", self.key, found[0], text_of(self.log.last_id)]

    # --- judging -------------------------------------------------------------------------------

    def judge(self, connection: Connection) -> bool | None:
        """Return whether the running command took effect, or None if none was running. Fails on any error."""
        found = look(connection, self.key)
        unanswered, self.unknown = self.unknown, None
        if comparable(self.log) == comparable(found):
            return None if unanswered is None else False
        assert unanswered is not None, _difference(self.log, found)
        new_id = max(found.entries, default=None)
        self.log.apply(unanswered, new_id)
        assert comparable(self.log) == comparable(found), _difference(self.log, found)
        return True


def look(connection: Connection, key: str) -> ClientLog:
    """The stream as the server has it; its last id is not asked for."""
    found = ClientLog()
    for entry_id, fields in connection.command("XRANGE", key, "-", "+"):
        found.entries[id_of(entry_id)] = fields[1]
    if not connection.command("EXISTS", key):
        return found
    for info in connection.command("XINFO", "GROUPS", key):
        described = dict(zip(info[::2], info[1::2], strict=True))
        group = found.groups[described["name"]] = GroupLog(id_of(described["last-delivered-id"]))
        rows = connection.command("XPENDING", key, described["name"], "-", "+", "1000000")
        group.pending = {id_of(row[0]): (row[1], row[3]) for row in rows}
    return found


def comparable(log: ClientLog) -> Any:
    """The log without consumers that own no pending entry: they may be missing on disk."""
    groups = {name: (each.last_delivered, each.pending) for name, each in log.groups.items()}
    return log.entries, groups


def _difference(expected: ClientLog, found: ClientLog) -> str:
    lost = expected.entries.keys() - found.entries.keys()
    extra = found.entries.keys() - expected.entries.keys()
    groups = {
        name: (expected.groups.get(name), found.groups.get(name))
        for name in expected.groups.keys() | found.groups.keys()
        if expected.groups.get(name) != found.groups.get(name)
    }
    return f"lost {sorted(lost)}, extra {sorted(extra)}, groups (expected, found) {groups}"


class BulkClient:
    """Imports much, so that checkpoints run and are killed as well, and trims to bound it."""

    KEY = "bulk"
    BATCH = 400
    KEPT = 600
    PAUSE_S = 0.01

    def __init__(self) -> None:
        self.values: list[str] = []
        self.unknown: list[str] | None = None
        self._sent = 0

    def run(self, port: int) -> None:
        connection = Connection(port)
        try:
            while True:
                self._import(connection)
                self._trim(connection)
                time.sleep(self.PAUSE_S)
        except GONE:
            return

    def _import(self, connection: Connection) -> None:
        padding = "x" * 10_000
        values = [f"{self._sent + number}:{padding}" for number in range(self.BATCH)]
        self._sent += self.BATCH
        self.unknown = [*self.values, *values]
        lines = b"\n".join(msgspec.json.encode({"n": value}) for value in values)
        assert connection.import_entries(self.KEY, lines)["count"] == self.BATCH
        self._settle()

    def _trim(self, connection: Connection) -> None:
        self.unknown = self.values[-self.KEPT :]
        connection.command("XTRIM", self.KEY, "MAXLEN", "=", str(self.KEPT))
        self._settle()

    def _settle(self) -> None:
        assert self.unknown is not None
        self.values, self.unknown = self.unknown, None

    def judge(self, connection: Connection) -> None:
        """The stream has all acknowledged entries, with or without the entry that was under way."""
        found = [fields[1] for _, fields in connection.command("XRANGE", self.KEY, "-", "+")]
        assert found in (self.values, self.unknown), f"{len(found)} entries, not {len(self.values)}"
        self.values, self.unknown = found, None


class Reader:
    """Waits for entries of the shared stream: entries that it received must survive every crash."""

    def __init__(self) -> None:
        self.shown: dict[Id, str] = {}

    def run(self, port: int) -> None:
        connection = Connection(port)
        try:
            while True:
                after = text_of(max(self.shown, default=(0, 0)))
                words = ["XREAD", "COUNT", "50", "BLOCK", "1000", "STREAMS", SHARED_KEY, after]
                for _, entries in connection.command(*words) or []:
                    self.shown.update((id_of(entry_id), fields[1]) for entry_id, fields in entries)
        except GONE:
            return
