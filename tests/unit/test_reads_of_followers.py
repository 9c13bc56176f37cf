"""The read of a follower, which needs no bounds and budgets, returns what every other read returns."""

from __future__ import annotations

from random import Random

import pytest

from tailrace.core import commands as c
from tailrace.core.errors import StreamError
from tailrace.core.handlers import reads
from tailrace.core.outcome import Outcome
from tests.support.engine_calls import Calls
from tests.support.seeds import seeds


def outcome(calls: Calls, command: c.Read) -> Outcome | tuple[object, ...]:
    try:
        found = calls.outcome(command)
    except StreamError as error:
        return error.line, error.details
    streams = [(each.key, [*each.entries.ids], each.next, each.incarnation) for each in found.reply.streams]  # type: ignore[union-attr]
    return streams, found.wait, found.retry


@pytest.mark.parametrize("seed", seeds(200))
def test_a_waiting_read_of_one_stream_answers_as_the_general_one(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = Random(seed)
    calls = Calls()
    for _ in range(chance.randrange(5)):
        calls.reply(c.Append(b"s", [b'{"a":"%b"}' % (b"x" * chance.choice([1, 30, 400]))]))
        calls.now_ms += chance.randrange(2)
        if not chance.randrange(4):
            calls.reply(c.TrimStream(b"s", c.Trim(max_length=chance.randrange(3))))
        if not chance.randrange(6):
            calls.reply(c.DeleteKeys((b"s",)))
    stream = calls.engine.keyspace.streams.get(b"s")
    own = None if stream is None else calls.engine.keyspace.incarnation_of(stream)
    last_id = 5 if stream is None else stream.last_id
    for _ in range(30):
        limits = c.ReadLimits(
            count=chance.choice([None, None, 1, 5]),
            max_count=chance.choice([None, 1, 1000]),
            max_bytes=chance.choice([None, 1, 60, 600, 1 << 18]),
        )
        after = max(last_id + chance.choice([-(1 << 64), -2, -1, -1, 0, 0, 1]), 0)
        known = chance.choice([None, "", "another", own])
        command = c.Read(
            (c.ReadFrom(b"s", after, known),),
            limits,
            block_ms=chance.choice([0, 0, 100]),
            strict=chance.random() < 0.5,
        )
        with monkeypatch.context() as patched:
            patched.setattr(reads, "_followed", lambda *_: None)
            expected = outcome(calls, command)
        assert outcome(calls, command) == expected, command
