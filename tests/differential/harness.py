"""Runs one program on the engine and on a real `redis-server`, and finds the first reply that differs.

Owns the order of things: Redis answers the whole program in one pipeline, then the engine runs it
command by command at the time that Redis must have used. What may differ is up to the subclass of
`Comparison` for that version of Redis.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

import hiredis

from tailrace.core.engine import Engine
from tailrace.core.errors import StreamError
from tailrace.core.grammar import Rows, SimpleString
from tailrace.core.invariants import check
from tailrace.core.parser import parse_request
from tailrace.core.stream import Stream
from tailrace.core.stream_id import id_ms, parse_id
from tests.differential.replies import Members, Refusal, Reply, comparable
from tests.differential.vocabulary import KEYS, Program, Words
from tests.support.redis_server import Value

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
"""The questions at the end of every program: the whole state, so that every change is seen."""


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


class Comparison:
    """One program on a fresh engine, against the replies that Redis gave.

    A subclass is one version of Redis: `omitted` are the members of maps that are not compared, and the
    methods `worded`, `before`, `compared`, `expected` and `ends` hold the other allowed differences.
    """

    omitted: Members = frozenset()

    def __init__(self, commands: Sequence[Words], replies: Sequence[Value]) -> None:
        self._engine = Engine()
        self._started_ms = int(time.time() * 1000)
        self.commands = commands
        self.theirs = [self._their_reply(*pair) for pair in zip(commands, replies, strict=True)]

    def run(self) -> Difference | None:
        for index, words in enumerate(self.commands):
            self.before(words)
            answer = self._execute(words, self._now_ms(words, self.theirs[index]))
            if self.ends(words, answer):
                return None
            ours = self.compared(words, comparable(words, answer, self.omitted))
            theirs = self.compared(words, self.expected(index))
            if ours != theirs:
                return Difference(index, words, ours, theirs)
        check(self._engine.keyspace)
        return None

    # --- what a version of Redis does differently ----------------------------------------------

    def worded(self, words: Words, line: str) -> str:
        """Redis's error line as the engine words it."""
        del words
        return line

    def before(self, words: Words) -> None:
        """Look at the engine before it runs `words`."""

    def compared(self, words: Words, reply: Reply) -> Reply:
        """A reply of either side, without the parts that cannot be compared."""
        del words
        return reply

    def expected(self, index: int) -> Reply:
        """The answer that the engine must give to command `index`. A negative lag, which Redis shows after
        XSETID set the stream's counter below that of the group, is unknown."""
        words = self.commands[index]
        reply = comparable(words, self.theirs[index], self.omitted)
        for group in groups_of(words, reply):
            if (group[b"lag"] or 0) < 0:
                group[b"lag"] = None
        return reply

    def ends(self, words: Words, ours: Reply) -> bool:
        """Whether nothing after this answer can be compared."""
        del words, ours
        return False

    # --- the answers ---------------------------------------------------------------------------

    def ask(self, *words: bytes) -> Reply:
        """Return the state that the engine shows at this point of the program."""
        return comparable(list(words), self._execute(list(words), self._started_ms), self.omitted)

    def stream(self, key: bytes) -> Stream | None:
        """The engine's stream of that name at this point of the program."""
        stream: Stream | None = self._engine.keyspace.streams.get(key)
        return stream

    def _their_reply(self, words: Words, reply: Value) -> Reply:
        if isinstance(reply, hiredis.ReplyError):
            return Refusal(without_raw_words(words, self.worded(words, str(reply))))
        return reply

    def _now_ms(self, words: Words, theirs: Reply) -> int:
        """The program's one instant; for XADD, the time that Redis took the id from."""
        if words[0].upper() == b"XADD" and isinstance(theirs, bytes):
            return id_ms(parse_id(theirs))
        return self._started_ms

    def _execute(self, words: Words, now_ms: int) -> Reply:
        try:
            return as_bytes(self._answer(words, now_ms))
        except StreamError as error:
            return Refusal(without_raw_words(words, error.line))
        except Exception as error:  # noqa: BLE001 - a crash is a difference, to be shrunk like any other
            return Refusal(f"crashed: {error!r}")

    def _answer(self, words: Words, now_ms: int) -> Any:
        request = parse_request(words)
        if request.command is None:
            return request.to_resp(None)
        return request.to_resp(self._engine.execute(request.command, now_ms).reply)


def without_raw_words(words: Words, line: str) -> str:
    """The line for an unknown command repeats its words: Redis sends raw bytes and stops at a NUL, the
    engine's lines are text. Such a line is compared up to the first of these words."""
    if all(word.isascii() and b"\0" not in word for word in words):
        return line
    mark = ", with args" if words[0].isascii() and b"\0" not in words[0] else " '"
    return line.split(mark, maxsplit=1)[0]


def starts(words: Words, *names: bytes) -> bool:
    """Whether the command begins with `names`, in any case."""
    return tuple(word.upper() for word in words[: len(names)]) == names


def groups_of(words: Words, reply: Reply) -> list[dict[bytes, Any]]:
    """The groups in a comparable reply of XINFO GROUPS or XINFO STREAM FULL, else none."""
    if isinstance(reply, Refusal):
        return []
    if starts(words, b"XINFO", b"GROUPS"):
        return list(reply)
    full = starts(words, b"XINFO", b"STREAM") and isinstance(reply[b"groups"], list)
    return list(reply[b"groups"]) if full else []


def as_bytes(reply: Any) -> Reply:
    """The engine's RESP2 value in the types in which `hiredis` gives Redis's."""
    if isinstance(reply, SimpleString):
        return reply.encode()
    return [as_bytes(item) for item in reply] if isinstance(reply, list | Rows) else reply
