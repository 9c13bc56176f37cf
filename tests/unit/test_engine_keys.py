"""Streams as a whole: listing, scanning, renaming, configuring."""

from __future__ import annotations

import pytest

from tailrace.core import commands as c
from tailrace.core.errors import ErrorCode
from tailrace.core.glob import compile_glob
from tailrace.core.outcome import Signal, WakeUp
from tests.support.engine_calls import FRAGMENT, Calls
from tests.unit.test_many_ids import calls_of


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


def scanned(calls: Calls, count: int = 1, **options: object) -> tuple[list[int], list[bytes]]:
    """The cursors of a whole scan but the last one, and its keys."""
    cursors: list[int] = []
    keys: list[bytes] = []
    cursor = 0
    while True:
        step = calls.reply(c.ScanKeys(cursor, count=count, **options))  # type: ignore[arg-type]
        keys += step.keys
        cursor = step.cursor
        if not cursor:
            return cursors, keys
        cursors.append(cursor)


def test_a_scan_gives_every_key_that_stays_exactly_once(calls: Calls) -> None:
    step = calls.reply(c.ScanKeys(0, count=1))
    stays = {b"race:usa", b"race:france", b"tour", b"race:italy"} - set(step.keys)
    calls.reply(c.DeleteKeys((*step.keys, gone := stays.pop())))
    calls.reply(c.RenameKey(renamed := stays.pop(), b"renamed"))
    calls.reply(c.CreateStream(b"late"))
    seen = list(step.keys)
    while step.cursor:
        step = calls.reply(c.ScanKeys(step.cursor, count=1))
        seen += step.keys
    assert len(seen) == len(set(seen))
    assert stays <= set(seen)
    assert not {gone, renamed} & set(seen)


def test_scan_cursors_reveal_nothing_about_hidden_keys() -> None:
    alone, among_others = Calls(), Calls()
    for number in range(200):
        among_others.add(b"boat:%d" % number, "1-1")
    for calls in (alone, among_others):
        for number in range(30):
            calls.add(b"race:%d" % number, "1-1")
    for patterns in ((b"race:*",), (b"*e:?", b"race:1[0-9]"), (b"r*", b"race:2*")):
        expected = scanned(alone, 7, visible=patterns)
        assert expected[1]
        assert scanned(among_others, 7, visible=patterns) == expected


def test_a_scan_that_sees_many_keys_among_others_walks_over_all(
    calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = scanned(calls, visible=(b"race:*",))
    monkeypatch.setattr("tailrace.core.handlers.key_lists._SORTED_KEYS_MAX", 2)
    assert scanned(calls, visible=(b"race:*",)) == seen
    assert sorted(seen[1]) == [b"race:france", b"race:italy", b"race:usa"]


def test_a_scan_step_ends_early_where_count_or_the_work_would_exceed_a_bound(
    calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tailrace.core.handlers.key_lists.SCAN_COUNT_MAX", 2)
    cursors, keys = scanned(calls, 1_000_000)
    assert (len(cursors), len(keys)) == (1, 4)
    monkeypatch.setattr("tailrace.core.bounds.reply_room.MATCHING_STEPS_MAX", 1)
    cursors, keys = scanned(calls, 1_000_000, pattern=b"*[a-z]*")
    assert (len(cursors), len(keys)) == (3, 4)


@pytest.mark.parametrize("pattern", [b"*1*", b"key:1*", b"*:[0-4]?", b"*1", b"*none*", None])
@pytest.mark.parametrize("count", [1, 3, 1_000])
def test_a_scan_finds_the_keys_that_a_pattern_matches_in_the_order_of_the_scan(
    pattern: bytes | None, count: int
) -> None:
    calls = Calls()
    for number in range(100):
        calls.add(b"key:%d" % number, "1-1")
    glob = compile_glob(pattern or b"*")
    expected = [key for key in scanned(calls)[1] if glob.matches(key)]
    assert scanned(calls, count, pattern=pattern)[1] == expected


def test_the_first_step_of_a_scan_looks_at_few_of_many_keys() -> None:
    calls = Calls()
    calls.engine.execute_all([c.Append(b"%d" % number, [FRAGMENT]) for number in range(2_000)], 1)

    def first_step() -> None:
        assert len(calls.reply(c.ScanKeys(0, count=10)).keys) >= 10

    assert calls_of(first_step) < 500


def test_keys_with_the_same_scan_position_come_in_one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tailrace.core.scan_order.scan_position", lambda _: 5)
    calls = Calls()
    calls.engine.execute_all([c.Append(b"%d" % number, [FRAGMENT]) for number in range(4)], 1)
    cursors, keys = scanned(calls)
    assert (cursors, len(keys)) == ([], 4)
    calls.reply(c.DeleteKeys((b"2",)))
    assert sorted(scanned(calls)[1]) == [b"0", b"1", b"3"]


def test_keys_looks_only_at_keys_that_begin_as_the_pattern_does_and_refuses_too_many(
    calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tailrace.core.bounds.reply_room.MATCHING_STEPS_MAX", 3 * 64)
    assert calls.reply(c.MatchKeys(b"race:*")) == [b"race:france", b"race:italy", b"race:usa"]
    refused = calls.refused(c.MatchKeys(b"*"))
    assert (refused.code, "use SCAN" in refused.line) == (ErrorCode.LIMIT_EXCEEDED, True)


def test_lists_of_a_limited_token_show_what_its_patterns_match(calls: Calls) -> None:
    for patterns in ((b"race:*",), (b"r*", b"race:*", b"race:usa"), (b"*c*",), (b"race:[a-z]*", b"zzz*")):
        assert calls.reply(c.KeyspaceSize(visible=patterns)) == 3
        assert listed(calls, visible=patterns, limit=2) == ([b"race:france", b"race:italy"], True)
        assert calls.reply(c.MatchKeys(b"*", visible=patterns)) == listed(calls, visible=patterns)[0]
        assert calls.reply(c.MatchKeys(b"race:f*", visible=patterns)) == [b"race:france"]
        assert listed(calls, visible=patterns, prefix=b"tour") == ([], False)


def test_config_get_takes_a_word_without_wildcards_as_a_name(calls: Calls) -> None:
    for pattern, found in (
        (b"stream-idmp-MAXSIZE", 1),
        (b"stream-idmp\\-*", 2),
        (b"stream\\-idmp-maxsize", 0),
    ):
        assert len(calls.reply(c.GetConfig((pattern,)))) == found


def test_a_scan_may_match_a_pattern(calls: Calls) -> None:
    assert sorted(calls.reply(c.ScanKeys(0, 100, b"*t*")).keys) == [b"race:italy", b"tour"]
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
    assert calls.outcome(c.Flush()).wake_ups == [WakeUp(None, Signal.GONE)]
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


def test_keys_compares_many_names_at_once() -> None:
    calls = Calls()
    names = [b"%04d" % number for number in range(2_000)]
    calls.engine.execute_all([c.Append(name, [FRAGMENT]) for name in names], 1)
    found: list[bytes] = []
    assert calls_of(lambda: found.extend(calls.reply(c.MatchKeys(b"*")))) < 1_000
    assert found == names
    assert calls.reply(c.MatchKeys(b"*9*9")) == [
        name for name in names if name.endswith(b"9") and b"9" in name[:-1]
    ]


def test_keys_finds_the_names_that_begin_with_the_greatest_byte() -> None:
    calls = Calls()
    for name in (b"\xfe", b"\xfe\xff", b"\xff", b"\xff\xff", b"\xff\xffz", b"a"):
        calls.reply(c.Append(name, [FRAGMENT]))
    assert calls.reply(c.MatchKeys(b"\xff*")) == [b"\xff", b"\xff\xff", b"\xff\xffz"]
    assert calls.reply(c.MatchKeys(b"\xfe*")) == [b"\xfe", b"\xfe\xff"]
    assert calls.reply(c.MatchKeys(b"\xfe\xff*")) == [b"\xfe\xff"]
