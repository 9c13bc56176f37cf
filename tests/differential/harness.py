"""Runs one program on the engine and on a real `redis-server`, and finds the first answer that differs.

Owns the order of things: Redis answers the whole program in one pipeline, then the engine runs it
command by command at the time that Redis must have used. What may differ stands in `differences`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, TypeAlias

import hiredis

from core.engine import Engine
from core.errors import StreamError
from core.grammar import Rows, Status, parse_request
from core.invariants import check
from core.stream_id import StreamId, id_ms, parse_id
from tests.differential.differences import (
    Refusal,
    Reply,
    as_worded_today,
    comparable,
    counts_reads_blindly,
    created_by_an_empty_read,
    ends_the_program,
    with_early_lag,
    without_raw_words,
    without_read_counters,
)
from tests.differential.probes import consumer_probes
from tests.differential.vocabulary import KEYS, Program, Words
from tests.support.redis_server import RedisServer, Value

OPENING: Final[Program] = [
    ([b"FLUSHALL"],),
    ([b"CONFIG", b"SET", b"stream-node-max-bytes", b"0"],),
    ([b"CONFIG", b"SET", b"stream-node-max-entries", b"100"],),
]
"""A fresh start. The sizes of nodes in bytes are each implementation's own, so they are not bounded."""

FAREWELL: Final[Program] = [
    step
    for key in KEYS
    for step in (
        ([b"EXISTS", key],),
        ([b"XINFO", b"STREAM", key, b"FULL", b"COUNT", b"0"],),
        ([b"XINFO", b"STREAM", key],),
        ([b"XINFO", b"GROUPS", key],),
    )
]
"""What is asked at the end of every program: the whole state, so that no change goes unseen."""


@dataclass(frozen=True)
class Difference:
    """The first command whose answers differ, and both answers."""

    index: int
    words: Words
    ours: Reply
    theirs: Reply


def commands_of(program: Program) -> list[Words]:
    """The commands of all steps in order."""
    return list(chain.from_iterable(program))


def first_difference(server: RedisServer, program: Program) -> Difference | None:
    """None where the engine and `server` answer alike."""
    commands = commands_of([*OPENING, *program, *FAREWELL])
    return Comparison(commands, server.run_all(commands)).run()


class Comparison:
    """One program on a fresh engine, against the replies that Redis gave.

    `_apart`: the groups, by key and name, whose read counters no longer agree for a named reason.
    """

    def __init__(self, commands: Sequence[Words], replies: Sequence[Value]) -> None:
        self._engine = Engine()
        self._commands = commands
        self._theirs = [_their_reply(words, reply) for words, reply in zip(commands, replies, strict=True)]
        self._started_ms = int(time.time() * 1000)
        self._apart: set[tuple[bytes, bytes]] = set()

    def run(self) -> Difference | None:
        for index, words in enumerate(self._commands):
            self._note_groups_that_come_apart(words)
            answer = self._execute(words, self._now_ms(words, self._theirs[index]))
            if ends_the_program(answer):
                return None
            ours = self._without_counters_apart(words, comparable(words, answer))
            theirs = self._without_counters_apart(words, self._as_today(index))
            if ours != theirs:
                return Difference(index, words, ours, theirs)
        check(self._engine.keyspace)
        return None

    # --- our answer ----------------------------------------------------------------------------

    def _now_ms(self, words: Words, theirs: Reply) -> int:
        """The program's one instant; for XADD, the time that Redis took the id from."""
        if words[0].upper() == b"XADD" and isinstance(theirs, bytes):
            return id_ms(parse_id(theirs))
        return self._started_ms

    def _execute(self, words: Words, now_ms: int) -> Reply:
        try:
            return _as_bytes(self._answer(words, now_ms))
        except StreamError as error:
            return Refusal(without_raw_words(words, error.line))
        except Exception as error:  # noqa: BLE001 - a crash is a difference, to be shrunk like any other
            return Refusal(f"crashed: {error!r}")

    def _answer(self, words: Words, now_ms: int) -> Any:
        request = parse_request(words)
        if request.command is None:
            return request.literal
        return request.to_resp(self._engine.execute(request.command, now_ms).reply)

    def _ask(self, *words: bytes) -> Reply:
        """What the engine says of itself at this point of the program."""
        return comparable(list(words), self._execute(list(words), self._started_ms))

    # --- Redis's answer as today's servers give it ---------------------------------------------

    def _as_today(self, index: int) -> Reply:
        words, theirs = self._commands[index], self._theirs[index]
        if _starts(words, b"XGROUP", b"CREATECONSUMER"):
            return self._probed(index, theirs)
        reply = comparable(words, theirs)
        if groups := _groups(words, reply):
            self._correct_lag(words[2], groups)
        return reply

    def _probed(self, index: int, theirs: Reply) -> Reply:
        for back in range(1, min(index, 3) + 1):
            if self._commands[index] in consumer_probes(self._commands[index - back]):
                return created_by_an_empty_read(self._theirs[index - back], theirs)
        return theirs

    def _correct_lag(self, key: bytes, groups: list[Group]) -> None:
        stream = self._ask(b"XINFO", b"STREAM", key)
        for group in groups:
            with_early_lag(group, stream[b"length"], *_first_and_max_deleted(stream))

    # --- read counters -------------------------------------------------------------------------

    def _without_counters_apart(self, words: Words, reply: Reply) -> Reply:
        for group in _groups(words, reply):
            if (words[2], group[b"name"]) in self._apart:
                without_read_counters(group)
        return reply

    def _note_groups_that_come_apart(self, words: Words) -> None:
        if words[0].upper() == b"RENAME":
            old, new = words[1:2], words[2:3]
            self._apart |= {(key, group) for key in new for known, group in self._apart if [known] == old}
        elif words[0].upper() == b"XREADGROUP":
            for key in set(KEYS).intersection(words):
                self._note_blind_counts(key)
        elif words[0].upper() == b"XGROUP":
            self._note_uncapped_entries_read(words)

    def _note_blind_counts(self, key: bytes) -> None:
        stream = self._ask(b"XINFO", b"STREAM", key)
        if isinstance(stream, Refusal):
            return
        ids = _first_and_max_deleted(stream)
        groups = self._ask(b"XINFO", b"GROUPS", key)
        self._apart |= {(key, group[b"name"]) for group in groups if counts_reads_blindly(group, *ids)}

    def _note_uncapped_entries_read(self, words: Words) -> None:
        upper = [word.upper() for word in words]
        if b"ENTRIESREAD" not in upper[4:-1]:
            return
        given = words[upper.index(b"ENTRIESREAD", 4) + 1]
        stream = self._ask(b"XINFO", b"STREAM", words[2])
        added = 0 if isinstance(stream, Refusal) else stream[b"entries-added"]
        if given.isdigit() and int(given) > added:
            self._apart.add((words[2], words[3]))


Group: TypeAlias = dict[bytes, Any]


def _first_and_max_deleted(stream: dict[bytes, Any]) -> tuple[StreamId, StreamId]:
    return parse_id(stream[b"recorded-first-entry-id"]), parse_id(stream[b"max-deleted-entry-id"])


def _groups(words: Words, reply: Reply) -> list[Group]:
    """The groups in a comparable reply of XINFO GROUPS or XINFO STREAM FULL, else none."""
    if isinstance(reply, Refusal):
        return []
    if _starts(words, b"XINFO", b"GROUPS"):
        return list(reply)
    full = _starts(words, b"XINFO", b"STREAM") and isinstance(reply[b"groups"], list)
    return list(reply[b"groups"]) if full else []


def _starts(words: Words, *names: bytes) -> bool:
    return tuple(word.upper() for word in words[: len(names)]) == names


def _their_reply(words: Words, reply: Value) -> Reply:
    if isinstance(reply, hiredis.ReplyError):
        return Refusal(without_raw_words(words, as_worded_today(words, str(reply))))
    return reply


def _as_bytes(reply: Any) -> Reply:
    """The engine's RESP2 value in the types in which `hiredis` gives Redis's."""
    if isinstance(reply, Status):
        return reply.encode()
    return [_as_bytes(item) for item in reply] if isinstance(reply, list | Rows) else reply
