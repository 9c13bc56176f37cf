"""XINFO STREAM FULL of streams with very many groups and consumers, and summaries of many consumers."""

from __future__ import annotations

import pytest

from tailrace.api.operations.pending import summary_answer
from tailrace.core import commands as c
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.limits import INFO_FULL_PARTS_MAX
from tailrace.core.replies import StreamFullInfo
from tests.support.engine_calls import Calls


def with_consumers(count: int) -> Calls:
    """A stream with a group of so many consumers, and one without any."""
    calls = Calls()
    for group in (b"g", b"empty"):
        calls.reply(c.CreateGroup(b"s", group, 0, create_stream=True))
    for number in range(count):
        calls.reply(c.CreateConsumer(b"s", b"g", b"%d" % number))
    return calls


def test_the_full_form_shows_as_many_groups_and_consumers_as_allowed() -> None:
    calls = with_consumers(INFO_FULL_PARTS_MAX - 2)
    info = calls.reply(c.InfoStream(b"s", full_count=1))
    assert isinstance(info, StreamFullInfo)
    assert sorted(len(group.consumers) for group in info.groups) == [0, INFO_FULL_PARTS_MAX - 2]


def test_the_full_form_of_more_groups_and_consumers_is_refused_and_names_the_other_commands() -> None:
    calls = with_consumers(INFO_FULL_PARTS_MAX - 1)
    with pytest.raises(StreamError, match=r"5001; XINFO STREAM FULL shows 5000; use XINFO GROUPS") as refused:
        calls.reply(c.InfoStream(b"s", full_count=1))
    assert refused.value.code is ErrorCode.LIMIT_EXCEEDED
    assert calls.reply(c.InfoStream(b"s")).group_count == 2
    assert len(calls.reply(c.InfoConsumers(b"s", b"g"))) == INFO_FULL_PARTS_MAX - 1


@pytest.mark.parametrize(("consumers_max", "is_short"), [(0, True), (2, True), (3, False), (None, False)])
def test_a_summary_of_more_consumers_than_the_command_allows_has_only_the_count(
    consumers_max: int | None, *, is_short: bool
) -> None:
    calls = with_consumers(2)
    calls.reply(c.Append(b"s", [b'{"a":"1"}']))
    calls.read_new(b"s", b"g", b"alice")
    reply = calls.reply(c.PendingSummary(b"s", b"g", consumers_max))
    assert (reply.count, reply.is_short) == (1, is_short)
    assert list(reply.consumers) == ([] if is_short else [(b"alice", 1)])
    assert (summary_answer(reply) is None) is is_short
