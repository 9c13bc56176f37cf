"""A call that is refused changes nothing: not the stream, not its groups, not its state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from tailrace.app.remote.functions import appends, pending, reads, streams
from tailrace.app.remote.functions.call import Call
from tailrace.app.remote.functions.names import state_key
from tailrace.app.remote.link.port import EngineError
from tailrace.core import commands as c
from tailrace.core.errors import StreamError
from tailrace.core.stream_id import parse_id
from tests.remote.functions.engines import FunctionEngine

FIELDS: Final = b'{"rider":"Castilla"}'
HUGE_SEQ: Final = parse_id(b"9000000000000-18446744073709551615")


def append(**members: Any) -> Call[Any]:
    return appends.append(
        c.Append(b"s", members.pop("fragments", [FIELDS]), **members), native_policies=False
    )


def key(number: int | None, **members: Any) -> c.Idempotency:
    return c.Idempotency(b"p", members.pop("key", b"k"), members.pop("body", b"body"), number, b"two parts")


def read(group: bytes, *names: bytes) -> Call[Any]:
    sources = tuple(c.ReadFrom(name, c.Special.NEW) for name in names)
    return reads.read_group(c.ReadGroup(group, b"new", sources, claim_min_idle_ms=0))


REFUSED: Final[dict[str, Callable[[], Call[Any]]]] = {
    "a batch whose last id is not greater": lambda: append(
        fragments=[FIELDS] * 3,
        ids=[parse_id(b"9000000000000-1"), parse_id(b"9000000000000-2"), parse_id(b"9000000000000-2")],
    ),
    "a batch whose ids of one millisecond are exhausted": lambda: append(
        fragments=[FIELDS] * 2, ids=[HUGE_SEQ, c.AutoSeq(9_000_000_000_000)]
    ),
    "another last id": lambda: append(if_last_id=1),
    "another body": lambda: append(idempotency=key(None, body=b"another")),
    "another body in an epoch": lambda: append(idempotency=key(7, body=b"another")),
    "an epoch that has passed": lambda: append(idempotency=key(5)),
    "another layout": lambda: append(idempotency=c.Idempotency(b"p", b"l", None, 7, b"three parts")),
    "a takeover of other keys": lambda: appends.take_over_epoch(
        c.TakeOverEpoch(b"s", b"p", 7, b"two parts", b"new", 9)
    ),
    "a key of another entry": lambda: streams.record(
        c.RecordIdempotencyKey(b"s", b"p", b"k", parse_id(b"1-2"))
    ),
    "a key of no entry": lambda: streams.record(c.RecordIdempotencyKey(b"s", b"p", b"z", 99)),
    "a read of a group that one stream lacks": lambda: read(b"g", b"s", b"s", b"none"),
    "a read of a key that is no stream": lambda: read(b"g", b"s", b"string"),
    "a nack in no group": lambda: pending.nack(
        c.NegativeAcknowledge(b"s", b"none", c.NackMode.FAIL, (parse_id(b"1-1"),))
    ),
    "a claim in no group": lambda: pending.claim(
        c.Claim(b"s", b"none", b"new", c.ClaimOptions(0, (parse_id(b"1-1"),)))
    ),
    "too many references": lambda: appends.delete_by_policy(
        c.DeleteEntriesByPolicy(b"s", range(1, 10_001), 10_000, c.References.DELETE)
    ),
    "too many references of one group": lambda: appends.acknowledge_and_delete(
        c.AcknowledgeAndDelete(b"s", b"g", range(1, 10_001), 10_000, c.References.ACKNOWLEDGED)
    ),
    "a rename of nothing": lambda: streams.rename(c.RenameKey(b"none", b"s")),
    "a copy onto itself": lambda: streams.copy(c.CopyKey(b"s", b"s")),
}


@pytest.fixture
def busy(engine: FunctionEngine) -> FunctionEngine:
    """A stream with three groups, pending entries, a nacked one, and keys of both kinds."""
    for value in (b"1-1", b"1-2", b"1-3"):
        engine.command("XADD", "s", value, "rider", "Castilla")
    for group in ("g", "h", "i"):
        engine.command("XGROUP", "CREATE", "s", group, "0")
        engine.command("XREADGROUP", "GROUP", group, "alice", "COUNT", 2, "STREAMS", "s", ">")
    engine.command("SET", "string", "x")
    first = parse_id(b"1-1")
    engine.run(pending.nack(c.NegativeAcknowledge(b"s", b"h", c.NackMode.FAIL, (first,))))
    engine.run(append(ids=[parse_id(b"2-1")], idempotency=key(6)))
    engine.run(append(ids=[parse_id(b"2-2")], idempotency=key(7)))
    engine.run(append(idempotency=key(None)))
    return engine


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_call_changes_nothing(busy: FunctionEngine, name: str) -> None:
    before = everything(busy)
    with pytest.raises((StreamError, EngineError)):
        busy.run(REFUSED[name]())
    assert everything(busy) == before


def test_calls_that_grow_are_refused_before_they_start_when_the_engine_is_out_of_memory(
    busy: FunctionEngine,
) -> None:
    before = everything(busy)
    busy.command("CONFIG", "SET", "maxmemory", 1)
    try:
        with pytest.raises(EngineError, match="OOM"):
            busy.run(append(fragments=[FIELDS] * 2))
        assert everything(busy) == before
        assert busy.run(read(b"g", b"s")).streams[0].entries.ids, "a read frees nothing, and goes on"
    finally:
        busy.command("CONFIG", "SET", "maxmemory", 0)


def test_a_trim_of_too_many_references_is_refused_before_the_append(engine: FunctionEngine) -> None:
    engine.command("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM")
    for _ in range(6):
        engine.run(append(fragments=[FIELDS] * 10_000))
    length = engine.command("XLEN", "s")
    rule = c.Trim(max_length=1, references=c.References.DELETE)
    with pytest.raises(StreamError, match="smaller steps"):
        engine.run(append(trim=rule))
    assert engine.command("XLEN", "s") == length


def everything(engine: FunctionEngine) -> Any:
    """All that the engine stores, apart from the consumers' times."""
    keys = sorted(engine.command("KEYS", "*"))
    state = engine.command("HGETALL", state_key(b"s"))
    pairs = sorted(zip(state[::2], state[1::2], strict=True))
    return keys, pairs, engine.command("XINFO", "STREAM", "s", "FULL", "COUNT", 0)
