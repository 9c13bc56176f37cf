"""Appends that Redis has no commands for: batches, preconditions, producers with epochs."""

from __future__ import annotations

import pytest

from tailrace.core import commands as c
from tailrace.core.errors import ErrorCode
from tailrace.core.idempotency.compact_name import compact_name
from tailrace.core.limits import NAME_BYTES_MAX
from tailrace.core.stream_id import MAX_ID, make_id
from tests.support.engine_calls import FRAGMENT, Calls, at, texts


@pytest.fixture
def calls() -> Calls:
    return Calls()


def batch(size: int, **options: object) -> c.Append:
    return c.Append(b"s", [FRAGMENT] * size, **options)  # type: ignore[arg-type]


def keyed(key: str, *, epoch: int | None = None, layout: bytes | None = None, body: bytes = b"f") -> c.Append:
    return batch(2, idempotency=c.Idempotency(b"p", key.encode(), body, epoch, layout))


def test_a_batch_gets_consecutive_ids_and_one_wake_up(calls: Calls) -> None:
    outcome = calls.outcome(batch(3))
    assert texts(outcome.reply.ids) == ["1000-0", "1000-1", "1000-2"]  # type: ignore[union-attr]
    assert len(outcome.wake_ups) == 1


def test_a_batch_may_mix_given_and_automatic_ids(calls: Calls) -> None:
    ids = [at("5-1"), None, c.AutoSeq(1000), c.AutoSeq(2000), at("2000-7")]
    assert texts(calls.reply(batch(5, ids=ids)).ids) == ["5-1", "1000-0", "1000-1", "2000-0", "2000-7"]


def test_one_bad_id_refuses_the_whole_batch(calls: Calls) -> None:
    assert calls.refused(batch(3, ids=[None, at("5-1"), None])).code is ErrorCode.ID_NOT_GREATER
    assert calls.reply(c.CountKeys((b"s",))) == 0


def test_an_id_of_zero_is_refused_wherever_it_stands_in_a_batch(calls: Calls) -> None:
    refused = calls.refused(batch(2, ids=[at("5-1"), 0]))
    assert refused.line == "ERR The ID specified in XADD must be greater than 0-0"


def test_a_batch_that_would_pass_the_last_id_is_refused_whole(calls: Calls) -> None:
    calls.reply(batch(1, ids=[MAX_ID - 1]))
    assert calls.refused(batch(2)).code is ErrorCode.ID_EXHAUSTED
    assert calls.refused(batch(2, ids=[None, None])).code is ErrorCode.ID_EXHAUSTED
    assert calls.refused(batch(2, ids=[MAX_ID, None])).code is ErrorCode.ID_EXHAUSTED
    assert texts(calls.reply(batch(1)).ids) == [f"{2**64 - 1}-{2**64 - 1}"]


def test_an_append_may_ask_for_the_last_id_it_knows(calls: Calls) -> None:
    assert calls.refused(batch(1, if_last_id=at("1-1"))).details == {"last_id": "0-0"}
    calls.reply(batch(1, if_last_id=0))
    refused = calls.refused(batch(1, if_last_id=0))
    assert (refused.code, refused.details) == (ErrorCode.PRECONDITION_FAILED, {"last_id": "1000-0"})
    calls.reply(batch(1, if_last_id=at("1000-0")))


def test_a_stream_that_must_not_be_made_is_not(calls: Calls) -> None:
    assert calls.reply(batch(1, create=False)) is None
    assert calls.reply(c.KeyspaceSize()) == 0


# --- idempotency -----------------------------------------------------------------------------------


def test_the_same_key_again_answers_the_first_ids_and_adds_nothing(calls: Calls) -> None:
    first = calls.reply(keyed("1"))
    calls.now_ms += 50
    again = calls.reply(keyed("1"))
    assert (list(again.ids), again.replayed) == (list(first.ids), True)
    assert calls.reply(c.StreamLength(b"s")) == 2
    info = calls.reply(c.InfoStream(b"s"))
    assert (info.idmp_keys_added, info.idmp_duplicates, info.idmp_key_count, info.producer_count) == (
        1,
        1,
        1,
        1,
    )


def test_another_body_under_the_same_key_is_refused(calls: Calls) -> None:
    calls.reply(keyed("1"))
    assert calls.refused(keyed("1", body=b"other")).code is ErrorCode.IDEMPOTENCY_MISMATCH


def test_a_replay_comes_before_the_precondition(calls: Calls) -> None:
    request = c.Idempotency(b"p", b"1")
    first = calls.reply(batch(1, idempotency=request, if_last_id=0))
    again = calls.reply(batch(1, idempotency=request, if_last_id=0))
    assert list(again.ids) == list(first.ids)


def test_keys_without_an_epoch_are_forgotten_by_count_and_time(calls: Calls) -> None:
    calls.reply(c.CreateStream(b"s", idmp_duration_s=10, idmp_maxsize=2))
    for key in "123":
        calls.reply(keyed(key))
    assert not calls.reply(keyed("1")).replayed
    calls.now_ms += 10_000
    calls.reply(c.ExpireIdempotencyKeys())
    assert calls.reply(c.InfoStream(b"s")).producer_count == 0
    assert not calls.outcome(c.ExpireIdempotencyKeys()).effects


def test_keys_of_the_current_and_the_last_epoch_are_kept_whatever_the_time(calls: Calls) -> None:
    calls.reply(c.CreateStream(b"s", idmp_duration_s=1, idmp_maxsize=1))
    for epoch in (4, 6):
        for key in "12":
            calls.reply(keyed(key, epoch=epoch))
    calls.now_ms += 3_600_000
    calls.reply(c.ExpireIdempotencyKeys())
    calls.reply(c.ConfigureStream(b"s", idmp_duration_s=2))
    assert all(calls.reply(keyed(key, epoch=epoch)).replayed for key in "12" for epoch in (4, 6))
    assert calls.reply(c.InfoStream(b"s")).idmp_key_count == 4


def test_an_epoch_before_the_last_is_refused_and_so_is_one_between(calls: Calls) -> None:
    for epoch in (1, 4, 6):
        calls.reply(keyed("1", epoch=epoch))
    for stale in (1, 5):
        refused = calls.refused(keyed("2", epoch=stale))
        assert (refused.code, refused.details) == (ErrorCode.STALE_EPOCH, {"epoch": "6"})


def test_the_first_layout_of_an_epoch_is_pinned(calls: Calls) -> None:
    calls.reply(keyed("1", epoch=1))
    calls.reply(keyed("2", epoch=1, layout=b"4x5000"))
    calls.reply(keyed("4", epoch=1, layout=b"4x5000"))
    for key in ("2", "3"):
        refused = calls.refused(keyed(key, epoch=1, layout=b"8x5000"))
        assert (refused.code, refused.details) == (ErrorCode.LAYOUT_CHANGED, {"layout": "4x5000"})
    assert calls.reply(keyed("2", epoch=1, layout=b"4x5000")).replayed
    assert calls.reply(keyed("2", epoch=1)).replayed
    assert not calls.reply(keyed("2", epoch=2, layout=b"8x5000")).replayed


def test_a_long_layout_that_an_earlier_release_pinned_in_full_is_known_by_its_compact_form(
    calls: Calls,
) -> None:
    layout = b"l" * (NAME_BYTES_MAX + 1)
    calls.reply(keyed("1", epoch=1, layout=layout))
    assert calls.reply(keyed("1", epoch=1, layout=compact_name(layout))).replayed
    refused = calls.refused(keyed("1", epoch=1, layout=compact_name(layout + b"l")))
    assert refused.code is ErrorCode.LAYOUT_CHANGED


def test_a_late_append_of_the_last_epoch_is_taken(calls: Calls) -> None:
    calls.reply(keyed("1", epoch=1))
    calls.reply(keyed("1", epoch=2))
    assert not calls.reply(keyed("2", epoch=1)).replayed
    assert calls.reply(keyed("2", epoch=1)).replayed


def test_configuring_forgets_keys_only_where_something_changes(calls: Calls) -> None:
    calls.reply(keyed("1"))
    calls.reply(c.ConfigureStream(b"s", idmp_duration_s=100))
    assert calls.reply(keyed("1")).replayed
    calls.reply(c.ConfigureStream(b"s", idmp_maxsize=7))
    assert not calls.reply(keyed("1")).replayed
    assert calls.refused(c.ConfigureStream(b"t", idmp_maxsize=7)).line == "ERR no such key"


def test_a_replayed_append_is_counted_and_nothing_else(calls: Calls) -> None:
    calls.reply(keyed("1"))
    outcome = calls.outcome(keyed("1"))
    assert len(outcome.effects) == 1
    assert not outcome.wake_ups


def test_automatic_ids_carry_into_the_next_millisecond(calls: Calls) -> None:
    calls.reply(batch(1, ids=[make_id(5000, 2**64 - 1)]))
    assert texts(calls.reply(batch(2)).ids) == ["5001-0", "5001-1"]
