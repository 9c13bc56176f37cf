"""The operations of `core` that are timed separately.

A case creates its data and returns the function to time. The function can be called repeatedly and does the
same work at each call. A case imports only what it times, so that it can also time an older `core`, and it
checks its results once when it is created.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count, cycle
from typing import Any, Final

from tailrace.core import commands as c
from tailrace.core.effects import EntriesAppended
from tailrace.core.engine import Engine
from tailrace.core.log.entry import fragment_from_flat
from tailrace.core.log.entry_json import wire_entries
from tailrace.core.log.entry_lines import fragments_from_ndjson
from tailrace.core.storage.records import decode_effects, encode_effects

try:
    from tailrace.core.parser import parse_request
except ModuleNotFoundError:  # an older `core`
    from tailrace.core.grammar import parse_request  # type: ignore[attr-defined, no-redef]

Call = Callable[[], object]
Case = Callable[[], Call]

NOW_MS: Final = 1_700_000_000_000
LENGTH: Final = 20_000
BATCH: Final = 1_000
PAGE: Final = 100
KEY: Final = b"race:france"
GROUP: Final = b"judges"
FRAGMENTS: Final = [
    fragment_from_flat(
        (b"rider", b"Castilla", b"speed", b"30.2", b"position", b"%d" % n, b"location_id", b"1")
    )
    for n in range(BATCH)
]
NDJSON: Final = b"\n".join(
    b'{"rider":"Castilla","speed":"30.2","position":"%d","location_id":"1"}' % n for n in range(BATCH)
)


class Bench:
    """An engine with a stream of `LENGTH` entries. The time is constant unless a call passes another one."""

    def __init__(self) -> None:
        self.engine = Engine()
        self.ids: list[int] = []
        for _ in range(LENGTH // BATCH):
            self.ids += self.run(c.Append(KEY, FRAGMENTS)).ids

    def run(self, command: c.Command, now_ms: int = NOW_MS) -> Any:
        """Return the reply to one command."""
        return self.engine.execute(command, now_ms).reply

    def deliver(self) -> None:
        """Deliver the whole stream to one consumer."""
        self.run(c.CreateGroup(KEY, GROUP, 0))
        assert len(self.read_group(b"silent", LENGTH)) == LENGTH

    def read_group(
        self, consumer: bytes, wanted: int, now_ms: int = NOW_MS, claim_min_idle_ms: int | None = None
    ) -> list[int]:
        """Return the ids that a consumer gets."""
        source = c.ReadFrom(KEY, c.Special.NEW)
        limits = c.ReadLimits(count=wanted)
        read = c.ReadGroup(GROUP, consumer, (source,), limits, claim_min_idle_ms=claim_min_idle_ms)
        return list(self.run(read, now_ms).streams[0].entries.ids)


def append() -> Call:
    """Append one entry. The stream is kept short, because this case does not measure memory."""
    bench = Bench()
    fragment = (FRAGMENTS[0],)
    trim = c.Trim(max_length=LENGTH, approximate=True)
    return lambda: bench.run(c.Append(KEY, fragment, trim=trim))


def append_batch() -> Call:
    """Append a thousand entries at once."""
    bench = Bench()
    trim = c.Trim(max_length=LENGTH, approximate=True)
    return lambda: bench.run(c.Append(KEY, FRAGMENTS, trim=trim))


def range_page() -> Call:
    """Read a hundred entries by id, from places all over the stream."""
    bench = Bench()
    starts = cycle(bench.ids[:-PAGE:37])
    assert len(bench.run(c.Range(KEY, next(starts), count=PAGE)).entries) == PAGE
    return lambda: bench.run(c.Range(KEY, next(starts), count=PAGE))


def range_wire() -> Call:
    """Write a hundred entries as the JSON of a response."""
    bench = Bench()
    entries = bench.run(c.Range(KEY, count=PAGE)).entries
    assert wire_entries(entries).count(b'"fields"') == PAGE
    return lambda: wire_entries(entries)


def read_group() -> Call:
    """Deliver a hundred new entries with NOACK; at the end of the stream the group starts again."""
    bench = Bench()
    bench.run(c.CreateGroup(KEY, GROUP, 0))
    source = (c.ReadFrom(KEY, c.Special.NEW),)
    read = c.ReadGroup(GROUP, b"alice", source, c.ReadLimits(count=PAGE), noack=True)
    steps = cycle([*[read] * (LENGTH // PAGE), c.SetGroupPosition(KEY, GROUP, 0)])
    return lambda: bench.run(next(steps))


def read_group_and_ack() -> Call:
    """Deliver a hundred new entries to a consumer, and acknowledge them."""
    bench = Bench()
    bench.run(c.CreateGroup(KEY, GROUP, 0))
    rounds = count(1)

    def step() -> None:
        if next(rounds) % (LENGTH // PAGE) == 0:
            bench.run(c.SetGroupPosition(KEY, GROUP, 0))
        ids = bench.read_group(b"alice", PAGE)
        acknowledged = bench.run(c.Acknowledge(KEY, GROUP, tuple(ids)))
        assert acknowledged == PAGE

    return step


def ack_one() -> Call:
    """Acknowledge one entry in the middle of the pending ones, and make it pending again with a claim."""
    bench = Bench()
    bench.deliver()
    ids = cycle(bench.ids[LENGTH // 2 :: 7])

    def step() -> None:
        ident = (next(ids),)
        assert bench.run(c.Acknowledge(KEY, GROUP, ident)) == 1
        bench.run(c.Claim(KEY, GROUP, b"silent", c.ClaimOptions(0, ident, force=True, just_id=True)))

    return step


def claim_one() -> Call:
    """Claim one of all pending entries with a group read."""
    return _claiming(1)


def claim_many() -> Call:
    """Claim a thousand entries with one group read."""
    return _claiming(BATCH)


def _claiming(wanted: int) -> Call:
    """Return a function that claims the oldest entries, which are then the newest. Each call advances the
    time by a millisecond.
    """
    bench = Bench()
    bench.deliver()
    times_ms = count(NOW_MS + 1)

    def step() -> None:
        assert len(bench.read_group(b"heir", wanted, next(times_ms), claim_min_idle_ms=0)) == wanted

    return step


def trim() -> Call:
    """Append a hundred entries, and trim a hundred exactly."""
    bench = Bench()
    fragments = FRAGMENTS[:PAGE]
    exactly = c.TrimStream(KEY, c.Trim(max_length=LENGTH))

    def step() -> None:
        bench.run(c.Append(KEY, fragments))
        assert bench.run(exactly) == PAGE

    return step


def parse_xadd() -> Call:
    """Parse an XADD with a trim."""
    words = [b"XADD", KEY, b"MAXLEN", b"~", b"1000", b"*", b"rider", b"Castilla", b"speed", b"30.2"]
    assert parse_request(words).name == "xadd"
    return lambda: parse_request(words)


def parse_xreadgroup() -> Call:
    """Parse an XREADGROUP with a claim."""
    words = b"XREADGROUP GROUP judges alice COUNT 10 CLAIM 60000 STREAMS race:france >".split()
    assert parse_request(words).name == "xreadgroup"
    return lambda: parse_request(words)


def encode_record() -> Call:
    """Encode a single append for the journal."""
    effects = Engine().execute(c.Append(KEY, (FRAGMENTS[0],)), NOW_MS).effects
    assert any(isinstance(effect, EntriesAppended) for effect in effects)
    raw = encode_effects(effects)
    assert encode_effects(decode_effects(raw)) == raw
    return lambda: encode_effects(effects)


def decode_ndjson() -> Call:
    """Convert a thousand lines of NDJSON to stored entries."""
    assert len(fragments_from_ndjson(NDJSON)) == BATCH
    return lambda: fragments_from_ndjson(NDJSON)


def decode_record() -> Call:
    """Decode a batch from the journal, as recovery does."""
    raw = encode_effects(Engine().execute(c.Append(KEY, FRAGMENTS), NOW_MS).effects)
    return lambda: decode_effects(raw)


CASES: Final[dict[str, Case]] = {
    case.__name__: case
    for case in (
        append,
        append_batch,
        range_page,
        range_wire,
        read_group,
        read_group_and_ack,
        ack_one,
        claim_one,
        claim_many,
        trim,
        parse_xadd,
        parse_xreadgroup,
        decode_ndjson,
        encode_record,
        decode_record,
    )
}
