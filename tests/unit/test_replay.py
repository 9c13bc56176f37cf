"""Effects are complete: replayed onto an empty keyspace, they rebuild the same keyspace.

Random programs of commands, over few ids so that they meet; after every command the keyspace is
checked against itself, and at the end it is rebuilt from the effects alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from typing import Any

import msgspec
import pytest

from tailrace.core import commands as c
from tailrace.core.command_table import READ_ONLY
from tailrace.core.effects import Effect
from tailrace.core.engine import Engine
from tailrace.core.errors import StreamError
from tailrace.core.invariants import check
from tailrace.core.keyspace import Keyspace
from tests.support.pending_order import ids_in_order
from tests.support.seeds import seeds

KEYS = (b"s", b"t")
DEAD = (b"s", b"t", b"dead", None)
GROUPS = (b"g", b"h")
CONSUMERS = (b"x", b"y", b"z")
FRAGMENTS = (b'{"a":"1"}', b'{"a":"2","b":"1"}', b'{"c":"1"}')


class Program:
    """A generator of commands that look at the keyspace to name ids that exist."""

    def __init__(self, seed: int, engine: Engine) -> None:
        self.random = random.Random(seed)
        self.engine = engine

    def ids(self) -> tuple[int, ...]:
        stream = self.engine.keyspace.streams.get(self.key())
        pools = [[1, 5]]
        if stream is not None:
            pools.append(stream.log.range()[0] or [1])
            pools += [list(group.pending.ids()) or [1] for group in stream.groups.values()]
        pool = self.random.choice(pools)
        start = self.random.randrange(len(pool))
        length = self.random.randrange(1, 12)
        if self.random.random() < 0.6:
            return tuple(pool[start : start + length])
        return tuple(self.random.choice(pool) for _ in range(length))

    def key(self) -> bytes:
        return self.random.choice(KEYS)

    def group(self) -> bytes:
        return self.random.choice(GROUPS)

    def consumer(self) -> bytes:
        return self.random.choice(CONSUMERS)

    def next(self) -> c.Command:
        makers: list[tuple[int, Callable[[], c.Command]]] = [
            (6, self.append),
            (8, self.read),
            (4, lambda: c.Acknowledge(self.key(), self.group(), self.ids())),
            (4, self.nack),
            (4, self.claim),
            (2, lambda: c.DeleteEntries(self.key(), self.ids())),
            (2, self.trim),
            (3, self.delete_by_policy),
            (3, self.group_command),
            (1, self.lease_command),
            (1, self.key_command),
            (1, self.retain),
            (2, self.delay_command),
        ]
        weights = [weight for weight, _ in makers]
        return self.random.choices([make for _, make in makers], weights)[0]()

    def append(self) -> c.Command:
        idempotency = None
        if self.random.random() < 0.3:
            epoch = self.random.choice([None, 1, 2, 3])
            idempotency = c.Idempotency(b"p", self.random.choice([b"1", b"2", b"3"]), b"f", epoch)
        fragments = self.random.choices(FRAGMENTS, k=self.random.choice([1, 1, 5, 20]))
        return c.Append(self.key(), fragments, trim=self.random.choice([None, None, c.Trim(max_length=30)]),
                        idempotency=idempotency)  # fmt: skip

    def read(self) -> c.Command:
        positions: list[int | c.Special] = [c.Special.NEW] * 3
        after = self.random.choice([*positions, 0, *self.ids()])
        return c.ReadGroup(
            self.group(),
            self.consumer(),
            (c.ReadFrom(self.key(), after),),
            c.ReadLimits(count=self.random.choice([None, 1, 3, 10])),
            claim_min_idle_ms=self.random.choice([None, None, 0, 50, 200]),
            noack=self.random.random() < 0.1,
        )

    def nack(self) -> c.Command:
        mode = self.random.choice(list(c.NackMode))
        force = self.random.random() < 0.3
        delay_ms = self.random.choice([None, None, 0, 50, 50, 2_000])
        return c.NegativeAcknowledge(
            self.key(), self.group(), mode, self.ids(), force=force, delay_ms=delay_ms
        )

    def claim(self) -> c.Command:
        if self.random.random() < 0.2:
            count = self.random.choice([1, 10])
            return c.AutoClaim(self.key(), self.group(), self.consumer(), 50, 0, count)
        options = c.ClaimOptions(
            self.random.choice([0, 50]),
            self.ids(),
            idle_ms=self.random.choice([None, 0, 500, 10]),
            force=self.random.random() < 0.3,
            just_id=self.random.random() < 0.5,
        )
        return c.Claim(self.key(), self.group(), self.consumer(), options)

    def trim(self) -> c.Command:
        references = self.random.choice(list(c.References))
        approximate = self.random.random() < 0.5
        if self.random.random() < 0.5:
            return c.TrimStream(self.key(), c.Trim(20, None, approximate, references=references))
        return c.TrimStream(self.key(), c.Trim(None, self.ids()[0], approximate, references=references))

    def delete_by_policy(self) -> c.Command:
        ids, references = self.ids(), self.random.choice(list(c.References))
        if self.random.random() < 0.5:
            return c.DeleteEntriesByPolicy(self.key(), ids, len(ids), references)
        return c.AcknowledgeAndDelete(self.key(), self.group(), ids, len(ids), references)

    def group_command(self) -> c.Command:
        key, group, consumer = self.key(), self.group(), self.consumer()
        return self.random.choice(
            [
                c.CreateGroup(key, group, 0, create_stream=True),
                c.CreateGroup(key, group, 0, create_stream=True),
                c.SetGroupPosition(key, group, self.ids()[0]),
                c.DeleteConsumer(key, group, consumer),
                c.DeleteConsumer(key, group, consumer, transfer_to=self.consumer()),
                c.DestroyGroup(key, group),
                c.CreateConsumer(key, group, consumer),
                c.ConfigureGroup(key, group, self.random.choice([1, 2]), self.random.choice(DEAD)),
                c.ConfigureGroup(key, group, self.random.choice([1, 2]), self.random.choice(DEAD)),
                c.Redrive(key, group, self.random.choice([1, 10])),
                c.Redrive(key, group, self.random.choice([1, 10])),
                c.ConfigureGroup(key, group, order_by=self.random.choice(["a", "a", "b", None])),
                c.ConfigureGroup(key, group, order_by=self.random.choice(["a", "a", "b", None])),
            ]
        )

    def lease_command(self) -> c.Command:
        key, group, consumer = self.key(), self.group(), self.consumer()
        settings = c.ConfigureGroup(
            key,
            group,
            claim_min_idle_ms=self.random.choice([None, 1, 50]),
            consumer_expiry_ms=self.random.choice([None, 5_000, 5_000]),
        )
        extension = self.extend(key, group, consumer)
        look = c.ExpireConsumers(0, ((key, group, consumer),))
        return self.random.choice([settings, extension, extension, look])

    def extend(self, key: bytes, group: bytes, consumer: bytes) -> c.Command:
        found = self.engine.keyspace.group(key, group)
        owned: tuple[int, ...] = ()
        if found is not None and consumer in found.consumers:
            owned = tuple(islice(found.pending.ids_of(found.consumers[consumer]), 3))
        return c.ExtendLeases(key, group, consumer, owned or self.ids())

    def copy(self) -> c.Command:
        key, new_key = self.random.sample(KEYS, 2)
        return c.CopyKey(key, new_key, replace=self.random.random() < 0.7)

    def retain(self) -> c.Command:
        rules = [
            None,
            c.RetentionRules(max_age_ms=self.random.choice([2_000, 10_000])),
            c.RetentionRules(max_length=self.random.choice([5, 30]), protect_unread=True),
            c.RetentionRules(max_bytes=3_000, acknowledged=True),
        ]
        if self.random.random() < 0.5:
            return c.SweepRetention()
        return c.CreateStream(self.key(), retention=self.random.choice(rules))

    def delay_command(self) -> c.Command:
        stream = self.engine.keyspace.streams.get(self.key())
        known = () if stream is None or stream.schedule is None else tuple(stream.schedule.ids())
        idempotency = self.random.choice([None, c.Idempotency(b"p", b"1", b"f")])
        fragments = self.random.choices(FRAGMENTS, k=self.random.choice([1, 5]))
        return self.random.choice(
            [
                c.ScheduleEntries(self.key(), fragments, delay_ms=self.random.choice([0, 50, 2_000])),
                c.ScheduleEntries(self.key(), fragments, deliver_at_ms=3_000, idempotency=idempotency),
                c.CancelScheduled(self.key(), known[1:3]),
                c.ListScheduled(self.key(), count=2),
                c.ConfigureGroup(
                    self.key(), self.group(), backoff_initial_ms=20, backoff_factor=2.0, backoff_max_ms=90
                ),
                c.DoDue(),
                c.DoDue(),
            ]
        )

    def takeover(self) -> c.Command:
        key = self.key()
        stream = self.engine.keyspace.streams.get(key)
        known = () if stream is None else stream.idempotency.epochs.producers.get(b"p", ())
        epoch, keys = (known[-1].number, len(known[-1].keys)) if known else (1, 0)
        return c.TakeOverEpoch(key, b"p", epoch, b"any", b"taken over", keys)

    def key_command(self) -> c.Command:
        return self.random.choice(
            [
                c.DeleteKeys((self.key(),)),
                c.RenameKey(*self.random.sample(KEYS, 2)),
                self.copy(),
                c.RecordIdempotencyKey(self.key(), b"p", self.random.choice([b"1", b"9"]), self.ids()[0]),
                c.ConfigureStream(self.key(), 50, self.random.choice([1, 2])),
                c.SetConfig((("stream-node-max-entries", self.random.choice([3, 10])),)),
                self.takeover() if self.random.random() < 0.5 else c.ExpireIdempotencyKeys(),
                c.CreateStream(self.key(), self.random.choice([None, 50])),
                c.SetStreamPosition(self.key(), 1 << 90, 1_000_000),
                c.Flush() if self.random.random() < 0.1 else c.KeyspaceSize(),
            ]
        )


def picture(keyspace: Keyspace, now_ms: int) -> Any:
    """Everything that a client could ever see of a keyspace, as plain data."""
    engine = Engine(keyspace)
    infos = {
        key.decode(): msgspec.to_builtins(engine.execute(c.InfoStream(key, 0), now_ms).reply)
        for key in keyspace.streams
    }
    orders = {
        (key, name): ids_in_order(group.pending)
        for key, stream in keyspace.streams.items()
        for name, group in stream.groups.items()
    }
    settings = {
        (key, name): (group.settings, group.dead_letter_count)
        for key, stream in keyspace.streams.items()
        for name, group in stream.groups.items()
    }
    schedules = {
        key: (dict(stream.schedule.entries), stream.schedule.size_bytes, stream.schedule.last_number)
        for key, stream in keyspace.streams.items()
        if stream.schedule is not None
    }
    counts = (keyspace.agenda.scheduled_count, keyspace.agenda.scheduled_bytes)
    held = {
        (key, name): (list(order.held.items()), list(order.ready), dict(order.key_of))
        for key, stream in keyspace.streams.items()
        for name, order in [(name, group.order) for name, group in stream.ordered.items()]
        if order is not None
    }
    rest = counts, dict(keyspace.keys_by_serial), dict(keyspace.config)
    return infos, orders, settings, schedules, held, rest


@pytest.mark.parametrize("seed", seeds(30))
def test_a_keyspace_is_consistent_after_every_command_and_rebuilt_by_its_effects(seed: int) -> None:
    engine = Engine()
    program = Program(seed, engine)
    effects: list[Effect] = []
    now_ms = 1000
    for _ in range(250):
        now_ms += program.random.choice([0, 0, 1, 5, 100, -3, 1_500])
        command = program.next()
        with suppress(StreamError):
            made = engine.execute(command, now_ms).effects
            assert not (made and type(command) in READ_ONLY)
            effects += made
        check(engine.keyspace)
    rebuilt = Keyspace()
    for effect in effects:
        effect.apply(rebuilt)
    check(rebuilt)
    assert picture(rebuilt, now_ms) == picture(engine.keyspace, now_ms)


@pytest.mark.parametrize("seed", seeds(5))
def test_a_refused_command_changes_nothing(seed: int) -> None:
    engine = Engine()
    program = Program(1000 + seed, engine)
    refused = 0
    for _ in range(150):
        before = picture(engine.keyspace, 5000)
        try:
            engine.execute(program.next(), 5000)
        except StreamError:
            refused += 1
            assert picture(engine.keyspace, 5000) == before
    assert refused
