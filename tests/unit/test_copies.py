"""COPY: the contents of the copy. Later changes of one stream do not affect the other, in memory or on
disk."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tailrace.core import commands as c
from tailrace.core.effects import Effect, StreamCopied
from tailrace.core.engine import Engine
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.handlers import keys as keys_module
from tailrace.core.invariants import check
from tailrace.core.keyspace import Keyspace
from tailrace.core.outcome import Signal, WakeUp
from tailrace.core.storage import checkpoint
from tailrace.core.storage.damage import Damage
from tailrace.core.storage.records import decode_effects, encode_effects
from tests.support.engine_calls import FRAGMENT, Calls, at
from tests.support.pending_order import ids_in_order
from tests.support.seeds import seeds
from tests.unit.test_replay import picture
from tests.unit.test_storage import Disk


@pytest.fixture
def calls() -> Calls:
    return Calls()


def copy(key: bytes = b"s", new_key: bytes = b"t", *, replace: bool = False) -> c.CopyKey:
    return c.CopyKey(key, new_key, replace)


def worked_on(calls: Calls) -> None:
    """A stream `s` with everything that a stream can have."""
    calls.reply(c.CreateStream(b"s", idmp_maxsize=7))
    calls.add(b"s", *(f"{number}-0" for number in range(1, 301)))
    for epoch in (None, 4, 5):
        key = c.Idempotency(b"p", b"k", b"f", epoch, None if epoch is None else b"4 parts")
        calls.reply(c.Append(b"s", [FRAGMENT], idempotency=key))
    calls.reply(c.CreateGroup(b"s", b"g", 0))
    calls.reply(c.CreateGroup(b"s", b"idle", 5))
    calls.read_new(b"s", b"g", b"alice", 100)
    calls.read_new(b"s", b"g", b"bob", 50)
    calls.reply(c.CreateConsumer(b"s", b"g", b"carol"))
    calls.reply(c.Acknowledge(b"s", b"g", (at("2-0"), at("120-0"))))
    calls.reply(c.NegativeAcknowledge(b"s", b"g", c.NackMode.FAIL, (at("9-0"), at("4-0"))))
    scattered = tuple(at(f"{number}-0") for number in (50, 30, 70, 10, 90))
    calls.reply(c.Claim(b"s", b"g", b"bob", c.ClaimOptions(0, scattered, idle_ms=500)))
    calls.reply(c.DeleteEntries(b"s", tuple(at(f"{number}-0") for number in range(200, 270))))
    calls.reply(c.TrimStream(b"s", c.Trim(max_length=220)))


def seen(calls: Calls, key: bytes) -> Any:
    """All that a client can see of a stream but its incarnation, and the order in which entries would be
    claimed."""
    full = calls.reply(c.InfoStream(key, 0))
    info = replace(full, info=replace(full.info, incarnation=None))
    groups = calls.engine.keyspace.streams[key].groups
    orders = [ids_in_order(group.pending) for group in groups.values()]
    return info, orders


def test_a_copy_holds_everything_that_the_stream_holds(calls: Calls) -> None:
    worked_on(calls)
    assert calls.reply(copy()) == 1
    check(calls.engine.keyspace)
    assert seen(calls, b"t") == seen(calls, b"s")
    for epoch in (None, 4, 5):
        key = c.Idempotency(b"p", b"k", b"f", epoch)
        assert calls.reply(c.Append(b"t", [FRAGMENT], idempotency=key)).replayed
    stale = c.Idempotency(b"p", b"k", b"f", 3)
    assert calls.refused(c.Append(b"t", [FRAGMENT], idempotency=stale)).code is ErrorCode.STALE_EPOCH


WORK: Sequence[Callable[[bytes], c.Command]] = (
    lambda key: c.Append(key, [FRAGMENT] * 250),
    lambda key: c.DeleteEntries(key, tuple(at(f"{number}-0") for number in range(100, 170))),
    lambda key: c.TrimStream(key, c.Trim(max_length=10)),
    lambda key: c.Acknowledge(key, b"g", tuple(at(f"{number}-0") for number in range(1, 60))),
    lambda key: c.AutoClaim(key, b"g", b"dave", 0, 0, 100),
    lambda key: c.NegativeAcknowledge(key, b"g", c.NackMode.FATAL, (at("130-0"),)),
    lambda key: c.DeleteConsumer(key, b"g", b"bob"),
    lambda key: c.DestroyGroup(key, b"idle"),
    lambda key: c.ConfigureStream(key, 5, 5),
    lambda key: c.Append(key, [FRAGMENT], idempotency=c.Idempotency(b"p", b"other", None, 6)),
    lambda key: c.DeleteKeys((key,)),
)
"""The commands that change a stream."""


@pytest.mark.parametrize(("changed", "other"), [(b"s", b"t"), (b"t", b"s")])
def test_what_is_done_to_one_of_them_is_not_done_to_the_other(
    calls: Calls, changed: bytes, other: bytes
) -> None:
    worked_on(calls)
    calls.reply(copy())
    before = seen(calls, other)
    for work in WORK:
        calls.reply(work(changed))
        check(calls.engine.keyspace)
        assert seen(calls, other) == before


def test_a_missing_stream_and_a_name_that_is_taken_copy_nothing(calls: Calls) -> None:
    assert calls.reply(copy(b"missing", b"t")) == 0
    calls.add(b"s", "1-0")
    calls.add(b"t", "2-0")
    outcome = calls.outcome(copy())
    assert (outcome.reply, outcome.effects, outcome.wake_ups) == (0, [], [])
    assert calls.reply(copy(b"missing", b"t", replace=True)) == 0
    assert calls.reply(c.StreamLength(b"t")) == 1


def test_a_stream_is_not_copied_onto_itself_even_where_it_is_missing(calls: Calls) -> None:
    refused = calls.refused(copy(b"s", b"s", replace=True))
    assert refused.line == "ERR source and destination objects are the same"


def test_readers_of_the_new_name_look_again_and_group_readers_of_a_replaced_stream_are_told(
    calls: Calls,
) -> None:
    calls.add(b"s", "1-0")
    assert calls.outcome(copy()).wake_ups == [WakeUp(b"t", Signal.DATA)]
    replaced = calls.outcome(copy(replace=True))
    assert replaced.wake_ups == [WakeUp(b"t", Signal.GONE), WakeUp(b"t", Signal.DATA)]


def test_the_journal_names_both_streams_and_repeats_no_entry(calls: Calls) -> None:
    worked_on(calls)
    effects = calls.outcome(copy()).effects
    assert list(effects) == [StreamCopied(b"s", b"t")]
    assert len(encode_effects(effects)) < 10
    assert decode_effects(encode_effects(effects)) == effects


def test_a_stream_with_too_many_parts_is_not_copied_and_so_are_too_many_copies_in_a_transaction(
    calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    worked_on(calls)
    parts = calls.engine.keyspace.streams[b"s"].part_count
    monkeypatch.setattr(keys_module, "COPY_PARTS_MAX", 2 * parts)
    commands = [copy(new_key=name) for name in (b"t", b"u", b"v")]
    replies, _ = calls.engine.execute_all(commands, 1000)
    assert replies[:2] == [1, 1]
    refused = replies[2]
    assert isinstance(refused, StreamError)
    assert refused.code is ErrorCode.LIMIT_EXCEEDED
    assert f"{3 * parts} blocks" in refused.line
    assert calls.reply(copy(new_key=b"v")) == 1


def test_entries_delivered_together_are_one_part(calls: Calls) -> None:
    calls.add(b"s", *(f"{number}-0" for number in range(1, 101)))
    calls.reply(c.CreateGroup(b"s", b"g", 0))
    calls.read_new(b"s", b"g", b"alice")
    assert calls.engine.keyspace.streams[b"s"].part_count == 1 + 1 + 1 + 1


def test_a_copy_shares_the_packed_entries(calls: Calls) -> None:
    calls.add(b"s", *(f"{number}-0" for number in range(1, 301)))
    calls.reply(copy())
    logs = [calls.engine.keyspace.streams[key].log for key in (b"s", b"t")]
    packed = [[block.payload() for block in log.blocks if not block.is_open] for log in logs]
    assert len(packed[0]) == 2
    assert all(one is other for one, other in zip(*packed, strict=True))


# --- on disk -----------------------------------------------------------------------------------------


KEYS = (b"s", b"t", b"u")


class Copying:
    """Random work on few streams, on a disk and, by its effects, on a keyspace that has none."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.memory = Keyspace()
        self.now_ms = 1000

    def command(self, keyspace: Keyspace) -> c.Command:
        key, other = self.random.sample(KEYS, 2)
        stream = keyspace.streams.get(key)
        if stream is None or self.random.random() < 0.2:
            return c.Append(key, [b'{"n":"%d"}' % self.random.randrange(1000) for _ in range(30)])
        ids = stream.log.range()[0]
        some = (
            tuple(ids[start : start + 8])
            if (start := self.random.randrange(max(len(ids), 1))) < len(ids)
            else ()
        )
        return self.random.choice(
            [
                c.CopyKey(key, other, replace=True),
                c.CopyKey(key, other, replace=True),
                c.DeleteEntries(key, some or (1,)),
                c.DeleteEntries(key, some or (1,)),
                c.TrimStream(key, c.Trim(max_length=max(len(ids) - 15, 0))),
                c.RenameKey(key, other),
                c.DeleteKeys((key,)),
            ]
        )

    def run(self, disk: Disk, steps: int) -> None:
        for _ in range(steps):
            self.now_ms += 1
            effects = disk.engine.execute(self.command(disk.engine.keyspace), self.now_ms).effects
            disk.write(effects)
            for effect in effects:
                effect.apply(self.memory)
            self.compare(disk)

    def compare(self, disk: Disk) -> None:
        """Every entry is read from its current place."""
        _forget_decoded(disk)
        assert picture(disk.engine.keyspace, self.now_ms) == picture(self.memory, self.now_ms)


@pytest.mark.parametrize("seed", seeds(8))
def test_copies_read_the_same_at_every_step_of_a_checkpoint_and_after_a_crash_in_it(
    tmp_path: Path, seed: int
) -> None:
    work = Copying(seed)
    for _ in range(6):
        with closing(Disk(tmp_path)) as disk:
            check(disk.engine.keyspace)
            work.compare(disk)
            disk.write(disk.engine.execute(c.SetConfig((("stream-node-max-entries", 10),)), 1).effects)
            work.memory.configure("stream-node-max-entries", 10)
            work.run(disk, 12)
            _checkpoint(disk, work, crash_at=work.random.randrange(5))


def _checkpoint(disk: Disk, work: Copying, *, crash_at: int) -> None:
    """A checkpoint with work between its steps; it ends before the step `crash_at`."""
    changed, disk.changed = disk.changed, set()
    snapshot = checkpoint.take(disk.engine.keyspace, disk.seq, changed)
    half = len(snapshot.blocks) // 2
    steps: Sequence[Callable[[], object]] = (
        lambda: checkpoint.write_blocks(disk.writing, snapshot.blocks[:half]),
        lambda: checkpoint.write_blocks(disk.writing, snapshot.blocks[half:]),
        lambda: checkpoint.publish(disk.writing, snapshot),
        lambda: checkpoint.release(disk.reading, snapshot),
    )
    for step in steps[:crash_at]:
        work.run(disk, 4)
        step()
        work.compare(disk)
    work.run(disk, 4)


@pytest.mark.parametrize("crash_after", range(9))
def test_a_copy_keeps_entries_that_the_stream_lost_before_both_are_written(
    tmp_path: Path, crash_after: int
) -> None:
    with closing(Disk(tmp_path)) as disk:
        disk.write(disk.engine.execute(c.SetConfig((("stream-node-max-entries", 10),)), 1).effects)
        disk.write(disk.engine.execute(c.Append(b"s", [FRAGMENT] * 35), 1000).effects)
        disk.checkpoint()
        log = disk.engine.keyspace.streams[b"s"].log
        whole = log.range()
        disk.write(disk.engine.execute(copy(), 1001).effects)
        disk.write(disk.engine.execute(c.DeleteEntries(b"s", tuple(whole[0][:8])), 1002).effects)
        assert log.blocks[0].payload_bytes, "the block was packed anew, without the deleted entries"
        snapshot = checkpoint.take(disk.engine.keyspace, disk.seq, [b"s", b"t"])
        steps: list[Callable[[], object]] = [
            *(partial(checkpoint.write_blocks, disk.writing, [row]) for row in snapshot.blocks),
            lambda: checkpoint.publish(disk.writing, snapshot),
            lambda: checkpoint.release(disk.reading, snapshot),
        ]
        for step in steps[:crash_after]:
            step()
            _forget_decoded(disk)
            assert disk.engine.keyspace.streams[b"t"].log.range() == whole
    with closing(Disk(tmp_path)) as disk:
        assert disk.engine.keyspace.streams[b"t"].log.range() == whole
        assert disk.engine.keyspace.streams[b"s"].length == 27
        disk.checkpoint()
        _forget_decoded(disk)
        assert disk.engine.keyspace.streams[b"t"].log.range() == whole


def _forget_decoded(disk: Disk) -> None:
    """Cached blocks would hide what storage gives."""
    for stream in disk.engine.keyspace.streams.values():
        for block in stream.log.blocks:
            stream.log.cache.forget(block)


def damaged_origin(disk: Disk) -> None:
    """A stream of several blocks on disk, the first of which is damaged, and a copy made after that."""
    disk.write(disk.engine.execute(c.Append(b"s", [FRAGMENT] * 300), 1000).effects)
    disk.checkpoint()
    first = disk.writing.execute("SELECT min(first_id) FROM payloads").fetchone()
    disk.writing.execute("UPDATE payloads SET body = zeroblob(length(body)) WHERE first_id = ?", first)
    disk.write(disk.engine.execute(copy(), 1001).effects)


def test_the_copy_of_a_damaged_block_is_damaged_and_a_checkpoint_goes_on(tmp_path: Path) -> None:
    with closing(Disk(tmp_path)) as disk:
        damaged_origin(disk)
        disk.checkpoint()
        for key in (b"s", b"t"):
            with pytest.raises(Damage):
                disk.engine.execute(c.Range(key), 1002)
        last = disk.engine.keyspace.streams[b"t"].log.last_id
        assert disk.engine.keyspace.streams[b"t"].log.get(last) == FRAGMENT


def test_the_copy_of_a_missing_block_is_missing_and_a_checkpoint_goes_on(tmp_path: Path) -> None:
    with closing(Disk(tmp_path)) as disk:
        damaged_origin(disk)
        disk.writing.execute("DELETE FROM payloads")
        disk.checkpoint()
        with pytest.raises(Damage, match="missing"):
            disk.engine.execute(c.Range(b"t"), 1002)


def test_a_copy_costs_the_disk_its_entries_once_more_and_a_restart_replays_no_copy(tmp_path: Path) -> None:
    with closing(Disk(tmp_path)) as disk:
        disk.write(disk.engine.execute(c.Append(b"s", [FRAGMENT] * 300), 1000).effects)
        disk.checkpoint()
        disk.write(disk.engine.execute(copy(), 1001).effects)
        disk.write(disk.engine.execute(c.DeleteKeys((b"s",)), 1002).effects)
        assert len(disk.engine.keyspace.streams[b"t"].log.range()[0]) == 300
        disk.checkpoint()
        serials = disk.writing.execute("SELECT DISTINCT serial FROM payloads").fetchall()
        assert serials == [(2,)]
        log = disk.engine.keyspace.streams[b"t"].log
        assert {block.filed_under for block in log.blocks if not block.is_open} == {(2,)}
    with closing(Disk(tmp_path)) as disk:
        assert len(disk.engine.keyspace.streams[b"t"].log.range()[0]) == 300


def test_effects_alone_make_the_same_copies(calls: Calls) -> None:
    worked_on(calls)
    engine, effects = Engine(), list[Effect]()
    for command in (
        c.Append(b"s", [FRAGMENT] * 300),
        copy(),
        c.DeleteEntries(b"s", (1,)),
        copy(b"t", b"s", replace=True),
        c.Append(b"s", [FRAGMENT] * 30),
    ):
        effects += engine.execute(command, 1000).effects
    rebuilt = Keyspace()
    for effect in decode_effects(encode_effects(effects)):
        effect.apply(rebuilt)
    check(rebuilt)
    assert picture(rebuilt, 1000) == picture(engine.keyspace, 1000)
