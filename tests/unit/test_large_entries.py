"""Ranges of entries that fill a block each: entries that do not fit are refused before their
decompression."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tailrace.core import commands as c
from tailrace.core.bounds.reply_room import ReplyRoom, entries_bytes
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.limits import MIB
from tailrace.core.log.entry import BASE64_MARK, fragment_from_flat
from tailrace.core.storage.recovery import recover
from tailrace.core.stream_id import MAX_ID, ZERO_ID
from tests.support.engine_calls import FRAGMENT, Calls, at
from tests.support.seeds import seeds
from tests.unit.test_storage import Disk

KINDS = [
    fragment_from_flat([b"v", b"x" * 2 * MIB]),
    fragment_from_flat([b"v", b"\0" * (MIB // 3)]),
    fragment_from_flat([b"v", b"\xff" * 2 * MIB]),
    fragment_from_flat([b"\xff", b"x" * 2 * MIB]),
    fragment_from_flat([b"\xff", b"x" * 20] * 10_000),
    FRAGMENT,
]
"""Text, text that JSON writes longer, bytes, text in base64 in one and in many fields, and a small entry."""


def with_large_entries(random: Random) -> Calls:
    calls = Calls()
    for number in range(1, random.randrange(2, 8)):
        fragments = [random.choice(KINDS)] * random.choice((1, 1, 1, 3))
        calls.reply(c.Append(b"s", fragments, [at(f"{number}-{n}") for n in range(len(fragments))]))
    return calls


def is_refused(calls: Calls, command: c.Range, size_bytes: int) -> bool:
    [reply], _ = calls.engine.execute_some([[command]], [ReplyRoom(size_bytes)], 1)
    return isinstance(reply, StreamError) and reply.code is ErrorCode.REPLY_TOO_LARGE


@pytest.mark.parametrize("seed", seeds(12))
def test_only_ranges_that_do_not_fit_are_refused(seed: int) -> None:
    random = Random(seed)
    calls = with_large_entries(random)
    log = calls.engine.keyspace.streams[b"s"].log
    for _ in range(4):
        start = random.choice((ZERO_ID, at("2-0"), at("3-1")))
        end = random.choice((MAX_ID, at("6-0"), at("4-1")))
        count, reverse = random.choice((None, 1, 2, 5)), random.choice((True, False))
        _, fragments = log.range(start, end, count, reverse=reverse)
        size_bytes = entries_bytes(fragments)
        assert not log.surely_exceeds(size_bytes, start, end, count, reverse=reverse)
        command = c.Range(b"s", start, end, count, reverse)
        assert not is_refused(calls, command, size_bytes)
        if not any(each.startswith(BASE64_MARK) for each in fragments):
            assert is_refused(calls, command, size_bytes - 1) == (len(fragments) > 1)


@pytest.mark.parametrize("fragment", KINDS[:4])
@pytest.mark.parametrize("reverse", [True, False])
def test_a_refused_range_decompresses_nothing(fragment: bytes, *, reverse: bool) -> None:
    calls = Calls()
    calls.reply(c.Append(b"s", [FRAGMENT, *[fragment] * 8, FRAGMENT]))
    cache = calls.engine.keyspace.cache
    assert is_refused(calls, c.Range(b"s", count=9, reverse=reverse), 6 * MIB)
    assert is_refused(calls, c.Range(b"s", reverse=reverse), 6 * MIB)
    assert cache.misses == 0
    assert not is_refused(calls, c.Range(b"s", count=1, reverse=reverse), 6 * MIB)


def test_a_refused_range_of_stored_entries_decompresses_nothing(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    command = c.Append(b"s", [KINDS[0]] * 9)
    disk.write(disk.engine.execute(command, 1).effects)
    disk.checkpoint()
    calls = Calls()
    calls.engine.keyspace = recover(disk.writing, disk.reading).keyspace
    cache = calls.engine.keyspace.cache
    for _ in range(2):
        assert is_refused(calls, c.Range(b"s"), 3 * MIB)
    assert cache.misses == 0
    calls.reply(c.CopyKey(b"s", b"t", replace=False))
    assert is_refused(calls, c.Range(b"t"), 3 * MIB)
    assert cache.misses == 0
    assert len(calls.reply(c.Range(b"s", count=2)).entries) == 2


def test_a_room_that_is_used_up_refuses_all_that_follows() -> None:
    calls = Calls()
    calls.reply(c.Append(b"s", [KINDS[0]] * 4))
    commands = [c.Range(b"s", count=1), c.Range(b"s"), c.Range(b"s", count=1)]
    replies, _ = calls.engine.execute_some([commands], [ReplyRoom(MIB)], 1)
    assert [isinstance(reply, StreamError) for reply in replies] == [False, True, True]


def test_a_range_that_begins_with_an_entry_above_the_room_is_refused_and_not_cut() -> None:
    calls = Calls()
    calls.reply(c.Append(b"s", [KINDS[0], FRAGMENT, FRAGMENT]))
    assert is_refused(calls, c.Range(b"s"), MIB)
    assert not is_refused(calls, c.Range(b"s", count=1), MIB)
