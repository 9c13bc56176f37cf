"""Idempotency keys behind the library are those of the embedded engine: random programs of appends with
keys.

The requests are those of the API, not commands of Redis: batches, conditions, bodies, epochs, layouts,
takeovers. Both sides get the same clock, because each id is chosen by the client.
"""

from __future__ import annotations

from random import Random
from typing import Any, Final

import pytest

from tailrace.app.remote.functions import appends, streams
from tailrace.app.remote.functions.call import Call
from tailrace.app.remote.functions.names import RESERVED, state_key
from tailrace.core import commands as c
from tailrace.core.engine import Engine
from tailrace.core.errors import StreamError
from tailrace.core.replies import AppendReply
from tailrace.core.stream_id import make_id
from tests.remote.functions.engines import FunctionEngine

PROGRAMS: Final = 60
STEPS: Final = 40
NOW_MS: Final = 4_000_000_000_000
"""Later than the clock of any engine, so keys without an epoch never expire while a program runs."""

FIELDS: Final = b'{"rider":"Castilla"}'


def call_of(command: c.Command) -> Call[Any] | None:
    if isinstance(command, c.Append):
        return appends.append(command, native_policies=False)
    if isinstance(command, c.FindAppend):
        return appends.find_append(command)
    if isinstance(command, c.InfoProducer):
        return appends.info_producer(command)
    if isinstance(command, c.ConfigureStream):
        return streams.configure(command)
    assert isinstance(command, c.TakeOverEpoch)
    return appends.take_over_epoch(command)


class Requests:
    """Random requests to one stream; ids rise, so that they can be explicit."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._seq = 0

    def next(self) -> c.Command:
        kind = self._random.randrange(10)
        if kind < 7:
            return self._append()
        if kind == 7:
            return c.FindAppend(b"s", self._idempotency())
        if kind == 8:
            pick = self._random.choice
            layouts = (b"one", b"two")
            return c.TakeOverEpoch(
                b"s", pick((b"p", b"q")), pick((1, 2, 3)), pick(layouts), pick(layouts), pick((1, 1, 2, 3))
            )
        if self._random.randrange(4) == 0:
            return c.ConfigureStream(b"s", None, self._random.choice((2, 3)))
        return c.InfoProducer(b"s", self._random.choice((b"p", b"q")))

    def _append(self) -> c.Append:
        count = self._random.choice((1, 1, 2, 3))
        ids: list[c.IdRequest] = [self._id() for _ in range(count)]
        if self._random.randrange(15) == 0:
            ids.reverse()
        condition = None if self._random.randrange(8) else make_id(NOW_MS, self._seq - count)
        create = self._random.randrange(6) > 0
        idempotency = self._idempotency() if self._random.randrange(5) else None
        trim = c.Trim(max_length=5) if self._random.randrange(8) == 0 else None
        return c.Append(b"s", [FIELDS] * count, ids, trim, create, condition, idempotency)

    def _id(self) -> int:
        self._seq += self._random.choice((1, 1, 1, 2))
        return make_id(NOW_MS, self._seq)

    def _idempotency(self) -> c.Idempotency:
        pick = self._random.choice
        epoch = pick((None, 1, 1, 2, 3))
        layout = None if epoch is None else pick((None, b"one", b"one", b"two"))
        body = pick((None, b"body", b"body", b"another"))
        return c.Idempotency(pick((b"p", b"q")), pick((b"1", b"2", b"3", b"\xff:1")), body, epoch, layout)


def outcome(run: Any) -> Any:
    """The reply, or the error with all that a client sees of it."""
    try:
        reply = run()
    except StreamError as error:
        return error.code, error.line, error.details
    return (list(reply.ids), reply.replayed) if isinstance(reply, AppendReply) else reply


def counters(engine: FunctionEngine) -> Any:
    state = engine.run(streams.state(b"s"))
    return state and (
        state.idmp_duration_s,
        state.idmp_maxsize,
        state.idmp_key_count,
        state.idmp_keys_added,
        state.idmp_duplicates,
    )


def expected_counters(embedded: Engine) -> Any:
    stream = embedded.keyspace.streams.get(b"s")
    if stream is None:
        return None
    memory = stream.idempotency
    return memory.duration_s, memory.maxsize, memory.key_count, memory.keys_added, memory.duplicates


def test_random_requests_with_keys_get_the_answers_of_the_embedded_engine(engine: FunctionEngine) -> None:
    for seed in range(PROGRAMS):
        engine.command("FLUSHALL")
        embedded, requests, done = Engine(), Requests(seed), []
        for _ in range(STEPS):
            command = requests.next()
            done.append(command)
            call = call_of(command)
            assert call is not None
            ours = outcome(lambda command=command, embedded=embedded: embedded.execute(command, NOW_MS).reply)
            theirs = outcome(lambda call=call: engine.run(call))
            assert theirs == ours, (seed, done)
            assert counters(engine) == expected_counters(embedded), (seed, done)


def keyed(number: int, epoch: int | None = None) -> Call[Any]:
    request = c.Idempotency(b"p", b"%d" % number, b"body", epoch)
    return appends.append(c.Append(b"s", [FIELDS], idempotency=request), native_policies=False)


@pytest.mark.parametrize("epoch", [None, 7])
def test_a_stream_that_another_client_deleted_and_made_anew_has_no_keys(
    engine: FunctionEngine, epoch: int | None
) -> None:
    first = engine.run(keyed(1, epoch))
    incarnation = engine.run(streams.mark(b"s"))
    engine.command("DEL", "s")
    engine.command("XADD", "s", "*", "made", "anew")
    again = engine.run(keyed(1, epoch))
    assert not again.replayed
    assert again.ids != first.ids
    assert engine.run(keyed(1, epoch)).replayed
    assert engine.run(streams.mark(b"s")) != incarnation


def test_a_stream_keeps_its_incarnation_when_it_is_trimmed_renamed_or_loses_its_state(
    engine: FunctionEngine,
) -> None:
    engine.run(keyed(1))
    incarnation = engine.run(streams.mark(b"s"))
    engine.command("XTRIM", "s", "MAXLEN", 0)
    engine.command("DEL", state_key(b"s"))
    assert engine.run(streams.mark(b"s")) == incarnation
    engine.run(streams.rename(c.RenameKey(b"s", b"t")))
    assert engine.run(streams.mark(b"t")) == incarnation


def test_a_copy_has_an_incarnation_of_its_own_and_the_keys_of_the_original(engine: FunctionEngine) -> None:
    first = engine.run(keyed(1))
    assert engine.run(streams.copy(c.CopyKey(b"s", b"t"))) == 1
    request = c.Idempotency(b"p", b"1", b"body")
    copied = engine.run(appends.append(c.Append(b"t", [FIELDS], idempotency=request), native_policies=False))
    assert copied == AppendReply(tuple(first.ids), replayed=True)
    assert engine.run(streams.mark(b"s")) != engine.run(streams.mark(b"t"))


def test_a_mark_is_one_group_that_keeps_no_entry(engine: FunctionEngine) -> None:
    engine.command("XADD", "s", "1-1", "f", "v")
    state = engine.run(streams.state(b"s"))
    assert state is not None
    assert state.incarnation == ""
    assert engine.run(streams.mark(b"s")) == engine.run(streams.mark(b"s"))
    [group] = engine.command("XINFO", "GROUPS", "s")
    assert group[1].startswith(RESERVED)
    assert group[group.index(b"last-delivered-id") + 1] == b"18446744073709551615-18446744073709551615"


def test_a_missing_stream_has_no_incarnation(engine: FunctionEngine) -> None:
    assert engine.run(streams.mark(b"none")) is None
    assert engine.run(streams.state(b"none")) is None


def test_keys_without_an_epoch_are_bounded_by_count_and_forgotten_by_time(engine: FunctionEngine) -> None:
    engine.command("XADD", "s", "1-1", "f", "v")
    engine.run(streams.configure(c.ConfigureStream(b"s", None, 3)))
    for number in range(10):
        engine.run(keyed(number))
    assert counters(engine)[2:4] == (3, 10)
    # Keys of old ids have passed the duration at once.
    old = appends.append(
        c.Append(b"u", [FIELDS], [make_id(1_000, 1)], idempotency=c.Idempotency(b"p", b"1", None)),
        native_policies=False,
    )
    engine.run(old)
    with pytest.raises(StreamError, match="equal or smaller"):
        engine.run(old)
    assert engine.command("HLEN", state_key(b"u")) < 12


def test_the_fields_of_forgotten_epochs_are_freed(engine: FunctionEngine) -> None:
    for epoch in range(1, 6):
        for number in range(70):
            engine.run(keyed(number, epoch))
    fields = engine.command("HKEYS", state_key(b"s"))
    # Two epochs are remembered, and one may wait to be freed.
    assert sum(name.startswith(b"batch:") for name in fields) <= 3 * 70
    assert counters(engine)[2] == 140
