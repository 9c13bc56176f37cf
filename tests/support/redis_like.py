"""The engine as a Redis client uses it: takes words, returns a RESP2 reply or an error line.

Owns one engine, and a clock that tests set. Replies are made readable: bytes become text, flat maps stay
flat, and a failed command returns its line as an `ErrorLine`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from tailrace.core.engine import Engine
from tailrace.core.errors import StreamError
from tailrace.core.grammar import Request, Rows
from tailrace.core.outcome import Outcome
from tailrace.core.parser import parse_request
from tailrace.core.replies import ReadReply

Word: TypeAlias = str | bytes | int
Readable: TypeAlias = Any
"""None, int, str, ErrorLine, or a list of these; tests compare it with literals."""

START_MS = 1_700_000_000_000


class ErrorLine(str):
    """A complete Redis error line without its dash; it equals the same text."""

    __slots__ = ()


def to_words(words: Sequence[Word]) -> list[bytes]:
    """Return the words of a command as the client sends them."""
    return [word if isinstance(word, bytes) else str(word).encode() for word in words]


def readable(reply: Any) -> Readable:
    """Return a RESP2 value with text instead of bytes; bytes that are not UTF-8 are escaped."""
    if isinstance(reply, bytes):
        return reply.decode("utf-8", "backslashreplace")
    if isinstance(reply, list | Rows):
        return [readable(item) for item in reply]
    return reply


def as_map(flat: Sequence[Readable]) -> dict[str, Readable]:
    """Return a RESP2 map, which is a flat list, as a dict."""
    return dict(zip(flat[::2], flat[1::2], strict=True))


class R:
    """One engine with a clock that changes only when a test sets `now_ms`."""

    def __init__(self, now_ms: int = START_MS) -> None:
        self.engine = Engine()
        self.now_ms = now_ms

    def run(self, *words: Word) -> Readable:
        """Return the reply to one command, or its error line; a read that would wait returns nil."""
        return self.run_raw(to_words(words))

    def run_raw(self, words: Sequence[bytes]) -> Readable:
        """Return the reply to one command, as `run` does, for words that are already bytes."""
        try:
            request = parse_request(words)
            if request.command is None:
                return readable(request.to_resp(None))
            outcome = self.engine.execute(request.command, self.now_ms)
        except StreamError as error:
            return ErrorLine(error.line)
        return readable(request.to_resp(outcome.reply))

    def line(self, text: str) -> Readable:
        """Return the reply to one command, as `run` does, for a line that is split at spaces."""
        return self.run(*text.split())

    def lines(self, text: str) -> list[Readable]:
        """Return the replies to a text with one command a line; blank lines are skipped."""
        return [self.line(line) for line in text.splitlines() if line.strip()]

    def outcome(self, *words: Word) -> Outcome:
        """Return the complete outcome of one command: reply, effects, wake-ups and wait. Raises
        `StreamError`."""
        request = self.request(*words)
        assert request.command is not None
        return self.engine.execute(request.command, self.now_ms)

    def again(self, outcome: Outcome) -> Outcome:
        """Run the waiting read of `outcome` once more, as a woken reader does."""
        assert outcome.retry is not None
        return self.engine.execute(outcome.retry, self.now_ms)

    def request(self, *words: Word) -> Request:
        """Return the parsed command. Raises `StreamError`."""
        return parse_request(to_words(words))

    def transaction(self, *commands: Sequence[Word]) -> list[Readable]:
        """Return the replies of several commands at one instant, as MULTI and EXEC run them."""
        return self.transaction_outcome(*commands)[0]

    def transaction_outcome(self, *commands: Sequence[Word]) -> tuple[list[Readable], Outcome]:
        """Return the replies of `transaction`, and the outcome with its effects and wake-ups."""
        requests = [self.request(*words) for words in commands]
        to_run = [request.command for request in requests if request.command is not None]
        replies, outcome = self.engine.execute_all(to_run, self.now_ms)
        return [
            ErrorLine(reply.line) if isinstance(reply, StreamError) else readable(request.to_resp(reply))
            for request, reply in zip(requests, replies, strict=True)
        ], outcome

    def info(self, key: str) -> dict[str, Readable]:
        """Return XINFO STREAM as a dict."""
        return as_map(self.run("XINFO", "STREAM", key))

    def full(self, key: str) -> dict[str, Readable]:
        """Return XINFO STREAM FULL COUNT 0 as a dict, with groups and consumers as dicts."""
        info = as_map(self.run("XINFO", "STREAM", key, "FULL", "COUNT", 0))
        info["groups"] = [_group(flat) for flat in info["groups"]]
        return info

    def group(self, key: str, group: str) -> dict[str, Readable]:
        """Return one group of XINFO GROUPS as a dict."""
        return _named(self.run("XINFO", "GROUPS", key), group)

    def consumer(self, key: str, group: str, consumer: str) -> dict[str, Readable]:
        """Return one consumer of XINFO CONSUMERS as a dict."""
        return _named(self.run("XINFO", "CONSUMERS", key, group), consumer)

    def ids(self, key: str) -> list[str]:
        """Return the ids of all live entries."""
        return ids_of(self.run("XRANGE", key, "-", "+"))

    def pending(self, key: str, group: str) -> list[list[Readable]]:
        """Return all pending entries as XPENDING shows them: id, consumer, idle time, deliveries."""
        found: list[list[Readable]] = self.run("XPENDING", key, group, "-", "+", 1_000_000)
        return found


def ids_of(entries: Sequence[Readable]) -> list[str]:
    """Return the ids of an array of entries."""
    return [entry[0] for entry in entries]


def entry_count(outcome: Outcome) -> int:
    """Return how many entries a read returned, over all its streams."""
    assert isinstance(outcome.reply, ReadReply)
    return sum(len(read.entries) for read in outcome.reply.streams)


def read_ids(reply: Readable) -> dict[str, list[str]]:
    """Return the ids of a read's reply by key; empty for nil."""
    return {key: ids_of(entries) for key, entries in reply or []}


def _named(rows: Sequence[Readable], name: str) -> dict[str, Readable]:
    return next(row for row in map(as_map, rows) if row["name"] == name)


def _group(flat: Sequence[Readable]) -> dict[str, Readable]:
    group = as_map(flat)
    group["consumers"] = [as_map(consumer) for consumer in group["consumers"]]
    return group
