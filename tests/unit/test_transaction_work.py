"""The work of a transaction, and of one turn of a pipeline, is limited."""

from __future__ import annotations

import pytest

from tailrace.core import commands as c
from tailrace.core.bounds.reply_room import ReplyRoom
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.limits import (
    COMMAND_STEPS_MAX,
    IDS_PER_REQUEST_MAX,
    READ_ENTRIES_MAX,
    TRANSACTION_COMMANDS_MAX,
    TRANSACTION_STEPS_MAX,
)
from tailrace.core.transaction_work import Work
from tests.support.engine_calls import FRAGMENT, Calls
from tests.unit.test_many_ids import calls_of

MANY = tuple(range(1, IDS_PER_REQUEST_MAX + 1))
NOT_AN_ID = c.Malformed(StreamError(ErrorCode.INVALID_ID, "ERR no id"))
NEW, ACKED, DELREF = c.Special.NEW, c.References.ACKNOWLEDGED, c.References.DELETE


def read_group(
    after: c.Special | int, count: int | None = None, min_idle_ms: int | None = None
) -> c.ReadGroup:
    limits = c.ReadLimits(count=count)
    return c.ReadGroup(b"g", b"alice", (c.ReadFrom(b"s", after),), limits, claim_min_idle_ms=min_idle_ms)


def nack(ids: tuple[int, ...]) -> c.NegativeAcknowledge:
    return c.NegativeAcknowledge(b"s", b"g", c.NackMode.FAIL, ids)


@pytest.fixture(scope="module")
def calls() -> Calls:
    """A stream `s` of many entries: half of them are pending for `alice` in `g`, none was read in `late`."""
    calls = Calls()
    calls.reply(c.Append(b"s", [FRAGMENT] * 2 * READ_ENTRIES_MAX))
    calls.reply(c.CreateGroup(b"s", b"g", 0))
    calls.reply(c.CreateGroup(b"s", b"late", 0))
    assert len(calls.read_new(b"s", b"g", b"alice")) == READ_ENTRIES_MAX
    return calls


HEAVY: list[c.Command] = [
    c.Acknowledge(b"s", b"g", MANY),
    nack(MANY),
    c.DeleteEntries(b"s", MANY),
    c.DeleteEntriesByPolicy(b"s", MANY, len(MANY), DELREF),
    c.AcknowledgeAndDelete(b"s", b"g", MANY, len(MANY)),
    c.Claim(b"s", b"g", b"bob", c.ClaimOptions(0, MANY)),
    c.AutoClaim(b"s", b"g", b"bob", 0, 0, 20_000),
    c.TrimStream(b"s", c.Trim(max_length=30_000, references=ACKED)),
    read_group(NEW),
    read_group(0),
    read_group(NEW, min_idle_ms=1),
    c.DeleteKeys((b"t",) * 10_000),
]


@pytest.mark.parametrize("command", HEAVY, ids=lambda each: type(each).__name__)
def test_a_large_command_may_run_alone_and_not_three_times_in_a_transaction(
    calls: Calls, command: c.Command
) -> None:
    work = Work(calls.engine.keyspace)
    work.add(command)
    assert TRANSACTION_STEPS_MAX // 3 < work.steps <= COMMAND_STEPS_MAX
    before = calls.reply(c.InfoStream(b"s"))
    with pytest.raises(StreamError, match="too much work for one transaction") as refused:
        calls.engine.execute_all([c.Append(b"s", [FRAGMENT]), *[command] * 3], calls.now_ms)
    assert refused.value.code is ErrorCode.LIMIT_EXCEEDED
    assert calls.reply(c.InfoStream(b"s")) == before


SMALL: list[c.Command] = [
    c.Append(b"new", [FRAGMENT]),
    c.StreamLength(b"s"),
    c.Acknowledge(b"s", b"g", (1, 2, 3, 4, 5)),
    c.Acknowledge(b"s", b"g", NOT_AN_ID),
    c.Claim(b"s", b"g", b"bob", NOT_AN_ID),
    c.Claim(b"none", b"g", b"bob", c.ClaimOptions(0, (1,))),
    c.AutoClaim(b"none", b"g", b"bob", 0, 0),
    c.DeleteEntriesByPolicy(b"none", (1,), 1, DELREF),
    c.TrimStream(b"s", c.Trim(max_length=50_000)),
    c.Range(b"s", count=100),
    c.Range(b"none"),
    c.Read((c.ReadFrom(b"s", 0),), c.ReadLimits(count=10)),
    c.ReadGroup(b"g", b"alice", ()),
    c.PendingRange(b"s", b"g", count=10),
    c.PendingSummary(b"s", b"g"),
    c.PendingSummary(b"none", b"g"),
    c.InfoGroups(b"s"),
    c.InfoGroups(b"none"),
    c.InfoConsumers(b"s", b"g"),
    c.CopyKey(b"none", b"t"),
    c.CountKeys((b"s", b"t")),
    c.KeyspaceSize(),
    c.KeyspaceSize(visible=(b"s",)),
    c.ScanKeys(cursor=0),
    c.MatchKeys(pattern=b"s"),
]


@pytest.mark.parametrize("command", SMALL, ids=lambda each: type(each).__name__)
def test_a_transaction_may_have_as_many_small_commands_as_it_may_have_at_all(
    calls: Calls, command: c.Command
) -> None:
    replies, _ = calls.engine.execute_all([command] * TRANSACTION_COMMANDS_MAX, calls.now_ms)
    assert len(replies) == TRANSACTION_COMMANDS_MAX


def test_a_group_read_costs_little_where_it_finds_nothing() -> None:
    calls = Calls()
    calls.reply(c.Append(b"s", [FRAGMENT] * 5_000))
    for group in (b"g", b"h"):
        calls.reply(c.CreateGroup(b"s", group, c.Special.LAST_ID))
    other = c.ReadGroup(b"none", b"alice", (c.ReadFrom(b"s", NEW),))
    commands = [read_group(NEW), read_group(0), other] * 300
    assert len(calls.engine.execute_all(commands, 1)[0]) == 900


def test_a_large_stream_is_copied_once_in_a_transaction(
    calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tailrace.core.transaction_work.STEPS_PER_PART", 100)
    copies: list[c.Command] = [c.CopyKey(b"s", b"t", replace=True)] * 3
    assert calls.engine.execute_all(copies[:1], 1)[0] == [1]
    with pytest.raises(StreamError, match="too much work"):
        calls.engine.execute_all(copies, 1)


def test_a_turn_of_a_pipeline_ends_with_a_large_command(calls: Calls) -> None:
    large, small = c.Acknowledge(b"none", b"g", MANY), c.StreamLength(b"s")
    requests: list[list[c.Command]] = [[small], [small], [large], [large], [small]]
    replies, _ = calls.engine.execute_some(requests, [ReplyRoom()] * 5, calls.now_ms)
    assert len(replies) == 3
    replies, _ = calls.engine.execute_some(requests[3:], [ReplyRoom()] * 2, calls.now_ms)
    assert len(replies) == 1


@pytest.mark.parametrize("references", [DELREF, ACKED])
def test_groups_without_pending_entries_cost_a_deletion_by_policy_little(references: c.References) -> None:
    def calls_with(groups: int) -> int:
        calls = Calls()
        calls.reply(c.Append(b"s", [FRAGMENT] * 1_000))
        for number in range(groups):
            calls.reply(c.CreateGroup(b"s", b"%d" % number, c.Special.LAST_ID))
        calls.read_new(b"s", b"0", b"alice")
        ids = tuple(calls.reply(c.Range(b"s")).entries.ids)
        command = c.DeleteEntriesByPolicy(b"s", ids, len(ids), references)
        return calls_of(lambda: calls.reply(command))

    assert calls_with(101) < calls_with(1) + 1_000


@pytest.mark.parametrize("references", [DELREF, ACKED])
def test_a_deletion_that_would_ask_too_many_groups_is_refused_and_changes_nothing(
    references: c.References, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = Calls()
    calls.reply(c.Append(b"s", [FRAGMENT] * 10))
    for group in (b"g", b"h", b"idle"):
        calls.reply(c.CreateGroup(b"s", group, 0))
    calls.read_new(b"s", b"g", b"alice")
    calls.read_new(b"s", b"h", b"alice")
    ids = tuple(calls.reply(c.Range(b"s")).entries.ids)
    commands = [
        c.DeleteEntriesByPolicy(b"s", ids, 10, references),
        c.AcknowledgeAndDelete(b"s", b"g", ids, 10, references),
    ]
    monkeypatch.setattr("tailrace.core.handlers.delete.REFERENCE_LOOKS_MAX", 19)
    for command in commands:
        refused = calls.refused(command)
        assert (refused.code, "10 ids in 2 groups" in refused.line) == (ErrorCode.LIMIT_EXCEEDED, True)
    assert calls.reply(c.StreamLength(b"s")) == calls.reply(c.PendingSummary(b"s", b"g")).count == 10
    monkeypatch.setattr("tailrace.core.handlers.delete.REFERENCE_LOOKS_MAX", 20)
    for command in commands:
        calls.reply(command)


def test_a_turn_ends_after_full_descriptions_of_large_groups(calls: Calls) -> None:
    short, full, larger = (Work(calls.engine.keyspace) for _ in range(3))
    short.add(c.InfoStream(b"s"))
    full.add(c.InfoStream(b"s", 10))
    larger.add(c.InfoStream(b"s", 0))
    assert short.steps < full.steps < larger.steps
    assert full.steps >= 10 + 2 * 10
    assert larger.steps >= 2 * READ_ENTRIES_MAX
    missing = Work(calls.engine.keyspace)
    missing.add(c.InfoStream(b"missing", 10))
    assert missing.steps == short.steps


def test_the_estimate_of_a_transaction_ends_at_its_limit(calls: Calls) -> None:
    commands = [c.InfoStream(b"s", 0)] * TRANSACTION_COMMANDS_MAX

    def refused() -> None:
        with pytest.raises(StreamError, match="too much work for one transaction"):
            calls.engine.execute_all(commands, 1)

    assert calls_of(refused) < TRANSACTION_COMMANDS_MAX
