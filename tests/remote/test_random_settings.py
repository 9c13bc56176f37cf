"""Random programs with settings of groups, and with consumers that are deleted, transferred and created
again, get the answers of the embedded engine from each engine.

A program prepares idle times itself (XCLAIM with IDLE), so that no answer depends on the time that it takes.
Each command has a millisecond of its own, so that entries of different commands have different idle times.
Ids of dead letters and of redriven entries come from two clocks; their order and their fields are compared.
`TESTS_GATEWAY_COMMANDS` is how many commands each store gets (1000), and `TESTS_DIFFERENTIAL_SEED` the
first seed.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final

import pytest
from msgspec.structs import replace

from tailrace.app.remote.store import RemoteStore
from tailrace.core import commands as c
from tailrace.core.engine import Engine
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.invariants import check
from tailrace.core.log.entry import flat_of, fragment_from_flat
from tailrace.core.replies import (
    ClaimReply,
    ConsumerInfo,
    ExtendReply,
    GroupInfo,
    RangeReply,
    ReadReply,
    RedriveReply,
)
from tests.support import seeds
from tests.support.remote_stores import gateways, new_key

COMMANDS: Final = int(os.environ.get("TESTS_GATEWAY_COMMANDS", "1000"))
FIRST_SEED: Final = int(os.environ.get("TESTS_DIFFERENTIAL_SEED", seeds.FIRST_SEED))
STEPS: Final = 80
HOUR_MS: Final = 3_600_000
START_MS: Final = 1_700_000_000_000
_CLOCK_ID: Final = re.compile(rb"^1\d{12}-\d+$")
"""An id that a clock made, as `_source_id` has it."""
CONSUMERS: Final = (b"alice", b"bob", b"carol")
GROUPS: Final = (b"g", b"h")


class Program:
    """Makes commands on one stream and its dead letters, at random."""

    def __init__(self, key: bytes, seed: int, *, is_native: bool) -> None:
        self.key = key
        # Emulated XNACK differs for deleted entries: see docs/differences.md.
        self._deletes = int(is_native)
        self.dead = key + b":dead"
        self._random = Random(seed)
        self._last = 0

    def opening(self) -> list[c.Command]:
        return [c.CreateGroup(self.key, group, 0, create_stream=True) for group in GROUPS]

    def step(self) -> c.Command:
        makers: Sequence[tuple[Callable[[], c.Command], int]] = [
            (self._append, 5), (self._read, 6), (self._history, 2), (self._claim, 3), (self._make_idle, 4),
            (self._auto_claim, 2), (self._nack, 3), (self._ack, 1), (self._extend, 2), (self._configure, 3),
            (self._redrive, 1), (self._delete, self._deletes), (self._renew, 1), (self._look, 4),
            (self._create_consumer, 1), (self._delete_consumer, 2),
        ]  # fmt: skip
        [make] = self._random.choices([each for each, _ in makers], [weight for _, weight in makers])
        return make()

    # --- the parts -----------------------------------------------------------------------------

    def _group(self) -> bytes:
        return self._random.choice(GROUPS)

    def _consumer(self) -> bytes:
        return self._random.choice(CONSUMERS)

    def _ids(self) -> tuple[int, ...]:
        wanted = self._random.randint(1, 3)
        return tuple(self._random.randint(1, self._last + 1) << 64 for _ in range(wanted))

    def _rising_ids(self) -> tuple[int, ...]:
        """Ids for a claim. Entries that are claimed together have equal idle times, and the library takes
        them by id: see docs/differences.md."""
        return tuple(sorted(self._ids()))

    def _append(self) -> c.Command:
        self._last += 1
        fragment = fragment_from_flat([b"n", b"%d" % self._last])
        return c.Append(self.key, (fragment,), (self._last << 64,))

    def _read(self) -> c.Command:
        source = c.ReadFrom(self.key, c.Special.NEW)
        claim = self._random.choice([None, None, 0, HOUR_MS])
        noack = self._random.random() < 0.1
        return c.ReadGroup(self._group(), self._consumer(), (source,), claim_min_idle_ms=claim, noack=noack)

    def _history(self) -> c.Command:
        after = self._random.choice([0, self._random.randint(0, self._last) << 64])
        count = self._random.choice([None, 1, 2])
        source = c.ReadFrom(self.key, after)
        return c.ReadGroup(self._group(), self._consumer(), (source,), c.ReadLimits(count))

    def _claim(self) -> c.Command:
        options = c.ClaimOptions(
            self._random.choice([0, HOUR_MS]),
            self._rising_ids(),
            retry_count=self._random.choice([None, None, 1, 3]),
            force=self._random.random() < 0.2,
            just_id=self._random.random() < 0.3,
        )
        return c.Claim(self.key, self._group(), self._consumer(), options)

    def _make_idle(self) -> c.Command:
        options = c.ClaimOptions(0, self._rising_ids(), idle_ms=2 * HOUR_MS, just_id=True)
        return c.Claim(self.key, self._group(), self._consumer(), options)

    def _auto_claim(self) -> c.Command:
        least = self._random.choice([0, HOUR_MS])
        count = self._random.choice([1, 2, 100])
        just_id = self._random.random() < 0.3
        start = self._random.randint(0, self._last) << 64
        return c.AutoClaim(self.key, self._group(), self._consumer(), least, start, count, just_id)

    def _nack(self) -> c.Command:
        mode = self._random.choice(list(c.NackMode))
        retry_count = self._random.choice([None, None, None, 0, 2])
        force = self._random.random() < 0.2
        return c.NegativeAcknowledge(self.key, self._group(), mode, self._ids(), retry_count, force)

    def _ack(self) -> c.Command:
        return c.Acknowledge(self.key, self._group(), self._ids())

    def _extend(self) -> c.Command:
        return c.ExtendLeases(self.key, self._group(), self._consumer(), self._ids())

    def _configure(self) -> c.Command:
        choices: list[dict[str, Any]] = [
            {"claim_min_idle_ms": HOUR_MS}, {"claim_min_idle_ms": None}, {"claim_min_idle_ms": 0},
            {"max_deliveries": 1, "dead_letter_stream": self.dead},
            {"max_deliveries": 2, "dead_letter_stream": self.dead},
            {"max_deliveries": 3}, {"max_deliveries": None, "dead_letter_stream": None},
            {"dead_letter_stream": self.key},
        ]  # fmt: skip
        settings = self._random.choice(choices)
        return c.ConfigureGroup(self.key, self._group(), **settings)

    def _redrive(self) -> c.Command:
        return c.Redrive(self.key, self._group(), self._random.choice([1, 100]))

    def _delete(self) -> c.Command:
        return c.DeleteEntries(self.key, self._ids())

    def _renew(self) -> c.Command:
        group = self._group()
        if self._random.random() < 0.5:
            return c.DestroyGroup(self.key, group)
        return c.CreateGroup(self.key, group, self._random.randint(0, self._last) << 64)

    def _create_consumer(self) -> c.Command:
        return c.CreateConsumer(self.key, self._group(), self._consumer())

    def _delete_consumer(self) -> c.Command:
        heir = self._random.choice([None, *CONSUMERS])
        refuse = self._random.random() < 0.8
        return c.DeleteConsumer(self.key, self._group(), self._consumer(), heir, refuse_pending=refuse)

    def _look(self) -> c.Command:
        looks: list[c.Command] = [
            c.PendingRange(self.key, self._group()),
            c.InfoGroups(self.key),
            c.InfoConsumers(self.key, self._group()),
            c.Range(self.key, 0, (1 << 128) - 1),
            c.Range(self.dead, 0, (1 << 128) - 1),
        ]
        return self._random.choice(looks)


# --- comparable answers ------------------------------------------------------------------------


def shown(command: c.Command, reply: Any) -> Any:
    """Return the answer without what depends on clocks: idle times, and ids above those of the program."""
    if isinstance(reply, list):
        return [_row(command, each) for each in reply]
    show = _SHOWN.get(type(reply))
    return reply if show is None else show(reply)


def _id(value: int) -> int:
    """Return an id of the program; ids that a clock made are all the same."""
    return value if value < START_MS << 64 else -1


def _entries(entries: Any) -> list[Any]:
    fragments = entries.fragments or [None] * len(entries.ids)
    rows = [
        (_id(value), None if fragment is None else [_CLOCK_ID.sub(b"-", word) for word in flat_of(fragment)])
        for value, fragment in zip(entries.ids, fragments, strict=True)
    ]
    # Entries that were delivered in one millisecond have no order of their own.
    return sorted(rows, key=repr)


def _row(command: c.Command, row: Any) -> Any:
    if isinstance(row, GroupInfo):
        return (
            *(row.name, row.pending_count, _id(row.last_delivered_id)),
            *(row.settings, row.dead_letter_count),
        )
    if isinstance(row, ConsumerInfo):
        return row.name, row.pending_count
    if isinstance(command, c.PendingRange):
        return _id(row.id), row.consumer, row.deliveries
    return row


_SHOWN: Final[dict[type, Callable[[Any], Any]]] = {
    StreamError: lambda reply: (reply.code, reply.line),
    ReadReply: lambda reply: [_entries(read.entries) for read in reply.streams],
    ClaimReply: lambda reply: (
        _entries(reply.entries),
        _id(reply.cursor),
        sorted(map(_id, reply.deleted_ids)),
    ),
    RangeReply: lambda reply: _entries(reply.entries),
    ExtendReply: lambda reply: (list(map(_id, reply.extended)), list(map(_id, reply.lost))),
    RedriveReply: lambda reply: (len(reply.ids), len(reply.new_ids), reply.skipped, reply.next is None),
}


def transfers_deleted_entries(engine: Engine, command: c.Command, now_ms: int) -> bool:
    """Whether the command transfers pending entries that were deleted from the stream, which no engine can:
    see docs/differences.md."""
    if not isinstance(command, c.DeleteConsumer) or command.transfer_to in {None, command.consumer}:
        return False
    log, look = engine.keyspace.streams[command.key].log, c.PendingRange(command.key, command.group)
    try:
        rows: Any = engine.execute(replace(look, consumer=command.consumer), now_ms).reply
    except StreamError:
        return False
    return any(row.id not in log for row in rows)


async def require_refusal(store: RemoteStore, command: c.Command) -> None:
    """The gateway drops no pending entry unless the client forces it to."""
    with pytest.raises(StreamError) as refused:
        await store.execute(replace(command, refuse_pending=True))
    assert refused.value.code is ErrorCode.CONSUMER_HAS_PENDING
    assert "deleted" in refused.value.details


def clock_ms() -> int:
    return time.time_ns() // 1_000_000


async def later_than(last_ms: int) -> None:
    """Wait until the clock shows a later millisecond."""
    while clock_ms() <= last_ms:  # noqa: ASYNC110 - a clock sets no event
        await asyncio.sleep(0)


async def run_program(store: RemoteStore, seed: int) -> None:
    """Run one program on both, and compare each answer."""
    embedded, now_ms = Engine(), START_MS
    is_native = store.engine.capabilities.xnack.is_native
    program = Program(new_key(), seed, is_native=is_native)
    done: list[c.Command] = []
    answered_ms = 0
    for command in [*program.opening(), *(program.step() for _ in range(STEPS))]:
        now_ms += 1
        if transfers_deleted_entries(embedded, command, now_ms):
            await require_refusal(store, command)
            continue
        done.append(command)
        try:
            ours: Any = embedded.execute(command, now_ms).reply
        except StreamError as error:
            ours = error
        await later_than(answered_ms)
        try:
            theirs: Any = await store.execute(command)
        except StreamError as error:
            theirs = error
        answered_ms = clock_ms()
        check(embedded.keyspace)
        assert shown(command, theirs) == shown(command, ours), (
            f"seed {seed}\n" + "\n".join(map(repr, done)) + "\nthe first is the gateway's answer"
        )


def test_random_programs_with_settings_get_the_answers_of_the_embedded_engine(store_url: str) -> None:
    async def run() -> None:
        async with gateways(store_url) as [store]:
            for number in range(max(COMMANDS // STEPS, 1)):
                await run_program(store, FIRST_SEED + number)

    asyncio.run(run())
