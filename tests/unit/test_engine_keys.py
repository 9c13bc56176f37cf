"""Streams as a whole: listing, scanning, renaming, configuring."""

from __future__ import annotations

import pytest

from core import commands as c
from core.errors import ErrorCode
from core.outcome import Signal
from tests.support.engine_calls import Calls


@pytest.fixture
def calls() -> Calls:
    calls = Calls()
    for key in (b"race:usa", b"race:france", b"tour", b"race:italy"):
        calls.add(key, "1-1")
    return calls


def listed(calls: Calls, **options: object) -> tuple[list[bytes], bool]:
    page = calls.reply(c.ListStreams(**options))  # type: ignore[arg-type]
    return [stream.key for stream in page.streams], page.more


def test_streams_are_listed_in_byte_order_by_page_and_prefix(calls: Calls) -> None:
    assert listed(calls) == ([b"race:france", b"race:italy", b"race:usa", b"tour"], False)
    assert listed(calls, prefix=b"race:", limit=2) == ([b"race:france", b"race:italy"], True)
    assert listed(calls, prefix=b"race:", start_after=b"race:italy", limit=2) == ([b"race:usa"], False)
    assert listed(calls, prefix=b"race:", start_after=b"a") == (listed(calls)[0][:3], False)
    assert listed(calls, prefix=b"zzz") == ([], False)


def test_making_a_stream_that_stands_changes_only_the_settings_given(calls: Calls) -> None:
    assert calls.reply(c.CreateStream(b"new", idmp_maxsize=5)) == 1
    assert calls.reply(c.CreateStream(b"new", idmp_duration_s=9)) == 0
    info = calls.reply(c.InfoStream(b"new"))
    assert (info.idmp_duration_s, info.idmp_maxsize) == (9, 5)
    assert not calls.outcome(c.CreateStream(b"new")).effects


def test_a_scan_gives_every_key_that_stays_exactly_once(calls: Calls) -> None:
    seen: list[bytes] = []
    cursor = 0
    while True:
        step = calls.reply(c.ScanKeys(cursor, count=1))
        seen += step.keys
        cursor = step.cursor
        if seen == [b"race:usa"]:
            calls.reply(c.DeleteKeys((b"race:usa", b"race:france")))
            calls.reply(c.CreateStream(b"late"))
        if not cursor:
            break
    assert sorted(seen) == [b"late", b"race:italy", b"race:usa", b"tour"]


def test_a_scan_may_match_a_pattern(calls: Calls) -> None:
    assert calls.reply(c.ScanKeys(0, 100, b"*t*")).keys == [b"tour", b"race:italy"]
    assert calls.reply(c.MatchKeys(b"race:[fu]*")) == [b"race:france", b"race:usa"]


def test_renaming_replaces_and_tells_the_readers_of_both_names(calls: Calls) -> None:
    outcome = calls.outcome(c.RenameKey(b"tour", b"race:usa"))
    assert [(each.key, each.signal) for each in outcome.wake_ups] == [
        (b"tour", Signal.GONE),
        (b"race:usa", Signal.GONE),
        (b"race:usa", Signal.DATA),
    ]
    assert calls.reply(c.KeyspaceSize()) == 3
    assert not calls.outcome(c.RenameKey(b"race:usa", b"race:usa")).effects
    assert calls.reply(c.RenameKey(b"race:usa", b"fresh")) is None
    assert calls.refused(c.RenameKey(b"nothing", b"x")).code is ErrorCode.NO_SUCH_STREAM


def test_flushing_tells_the_readers_of_every_stream_and_keeps_the_settings(calls: Calls) -> None:
    calls.reply(c.SetConfig((("stream-node-max-entries", 7),)))
    assert len(calls.outcome(c.Flush()).wake_ups) == 4
    assert not calls.outcome(c.Flush()).effects
    assert calls.reply(c.GetConfig((b"STREAM-NODE*",))) == {
        "stream-node-max-entries": 7,
        "stream-node-max-bytes": 4096,
    }
    assert not calls.outcome(c.SetConfig((("stream-node-max-entries", 7),))).effects


def test_the_server_counts_what_it_holds(calls: Calls) -> None:
    calls.reply(c.CreateGroup(b"tour", b"g", 0))
    calls.read_new(b"tour", b"g", b"x")
    stats = calls.reply(c.ServerInfo())
    assert (stats.streams, stats.entries, stats.groups, stats.pending) == (4, 4, 1, 1)
    assert calls.reply(c.ServerTime()) == 1000


def test_a_transaction_runs_at_one_instant_and_a_refusal_stops_none_of_the_others(calls: Calls) -> None:
    commands = [
        c.StreamLength(b"tour"),
        c.InfoGroups(b"nothing"),
        c.DeleteKeys((b"tour", b"tour", b"nothing")),
        c.Read((c.ReadFrom(b"tour", 0),), block_ms=0),
    ]
    replies, outcome = calls.engine.execute_all(commands, 1000)
    assert replies[0] == 1
    assert getattr(replies[1], "code", None) is ErrorCode.NO_SUCH_STREAM
    assert replies[2] == 1
    assert outcome.wait is None
    assert len(outcome.effects) == len(outcome.wake_ups) == 1


def test_who_may_see_some_keys_is_shown_those_alone(calls: Calls) -> None:
    for key in (b"a:1", b"b:1", b"a:2", b"c:1", b"a:3"):
        calls.add(key, "1-1")
    visible = (b"a:*", b"c:?")
    seen = [b"a:1", b"a:2", b"a:3", b"c:1"]
    assert calls.reply(c.MatchKeys(b"*", visible=visible)) == seen
    assert calls.reply(c.MatchKeys(b"*:1", visible=visible)) == [b"a:1", b"c:1"]
    assert calls.reply(c.KeyspaceSize(visible=visible)) == len(seen)
    assert sorted(calls.reply(c.ScanKeys(0, 100, visible=visible)).keys) == seen


def test_a_page_of_streams_is_filled_with_those_that_may_be_seen(calls: Calls) -> None:
    for number in range(10):
        calls.add(b"a:%d" % number, "1-1")
        calls.add(b"b:%d" % number, "1-1")
    page = calls.reply(c.ListStreams(start_after=b"a:7", limit=3, visible=(b"?:[1357]", b"a:9")))
    assert ([stream.key for stream in page.streams], page.more) == ([b"a:9", b"b:1", b"b:3"], True)
    last = calls.reply(c.ListStreams(start_after=b"b:5", limit=3, visible=(b"?:[1357]",)))
    assert ([stream.key for stream in last.streams], last.more) == ([b"b:7"], False)
