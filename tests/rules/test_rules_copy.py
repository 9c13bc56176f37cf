"""COPY and XIDMPRECORD reply as in Redis 8.10."""

from __future__ import annotations

import pytest

from tailrace.core.commands import ExpireIdempotencyKeys
from tailrace.core.errors import StreamError
from tailrace.core.outcome import Outcome
from tailrace.core.waiters import WaitQueue
from tests.rules.lines import INVALID_ID, NO_SUCH_KEY, NOT_AN_INTEGER, SYNTAX, arity, no_group_to_read
from tests.support.redis_like import R

SAME = "ERR source and destination objects are the same"
NO_DATABASE = "ERR DB index is out of range"
NO_INT = "ERR value is out of range, value must between -2147483648 and 2147483647"


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("s", arity("copy")),
        ("s t foo", SYNTAX),
        ("s t DB", SYNTAX),
        ("s s", SAME),
        ("s s REPLACE", SAME),
        ("s s DB 0", SAME),
        ("s s foo", SYNTAX),
        ("s t DB 1", NO_DATABASE),
        ("s t DB -1", NO_DATABASE),
        ("s s DB 16", NO_DATABASE),
        ("s t DB 16 foo", NO_DATABASE),
        ("s t DB x", NOT_AN_INTEGER),
        ("s t DB 2147483648", NO_INT),
        ("s t DB -2147483649", NO_INT),
        ("s t", 0),
        ("s t db 0 replace REPLACE", 0),
    ],
)
def test_copy_reads_its_options_from_left_to_right_before_it_looks_for_the_stream(
    r: R, words: str, answer: object
) -> None:
    assert r.line(f"COPY {words}") == answer


def test_copy_answers_1_and_0_where_the_name_is_taken(r: R) -> None:
    r.lines("XADD s 1 f v\nXADD s 2 f v")
    assert [r.line("COPY s t"), r.line("COPY s t"), r.line("COPY s t REPLACE")] == [1, 0, 1]
    assert r.ids("t") == ["1-0", "2-0"]


def test_copy_works_in_a_transaction_on_what_came_before_it(r: R) -> None:
    replies = r.transaction(["XADD", "s", "1", "f", "v"], ["COPY", "s", "t"], ["XADD", "s", "2", "f", "v"])
    assert replies == ["1-0", 1, "2-0"]
    assert r.ids("t") == ["1-0"]


def woken(r: R, waiting: str, *words: str) -> Outcome | StreamError:
    """Return the reply of a waiting reader that runs again after the command `words`."""
    outcome = r.outcome(*waiting.split())
    assert outcome.wait is not None
    queue = WaitQueue()
    queue.add("reader", outcome.wait)
    assert queue.woken(r.outcome(*words).wake_ups) == ["reader"]
    try:
        return r.again(outcome)
    except StreamError as error:
        return error


@pytest.mark.parametrize("after", ["0", "$"])
def test_copy_serves_a_reader_of_the_new_name(r: R, after: str) -> None:
    r.line("XADD s 5 f v")
    served = woken(r, f"XREAD BLOCK 0 STREAMS t {after}", "COPY", "s", "t")
    assert isinstance(served, Outcome)
    assert served.wait is None


def test_copy_leaves_a_reader_waiting_who_has_read_further_than_the_copy_goes(r: R) -> None:
    r.lines("XADD s 5 f v\nXADD t 9 f v")
    served = woken(r, "XREAD BLOCK 0 STREAMS t $", "COPY", "s", "t", "REPLACE")
    assert isinstance(served, Outcome)
    assert served.wait is not None


def test_copy_tells_group_readers_that_their_group_is_gone(r: R) -> None:
    r.lines("XADD s 5 f v\nXGROUP CREATE t g $ MKSTREAM")
    refused = woken(r, "XREADGROUP GROUP g alice BLOCK 0 STREAMS t >", "COPY", "s", "t", "REPLACE")
    assert isinstance(refused, StreamError)
    assert refused.line == no_group_to_read("t", "g")


def test_copy_serves_group_readers_where_the_copy_has_their_group(r: R) -> None:
    r.lines("XADD s 5 f v\nXGROUP CREATE s g 0\nXGROUP CREATE t g $ MKSTREAM")
    served = woken(r, "XREADGROUP GROUP g alice BLOCK 0 STREAMS t >", "COPY", "s", "t", "REPLACE")
    assert isinstance(served, Outcome)
    assert served.wait is None


# --- XIDMPRECORD ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("s p i", arity("xidmprecord")),
        ("s p i 1-0 x", arity("xidmprecord")),
        ("missing p i bad", INVALID_ID),
        ("s p i 1-*", INVALID_ID),
        ("s p i *", INVALID_ID),
        ("missing p i 1-0", NO_SUCH_KEY),
        ("s p i 2-0", "ERR No such message in stream"),
        ("s p i 1-0", "OK"),
        ("s p i 1", "OK"),
    ],
)
def test_xidmprecord_judges_the_id_then_the_names_then_the_stream(r: R, words: str, answer: str) -> None:
    r.line("XADD s 1 f v")
    assert r.line(f"XIDMPRECORD {words}") == answer


def test_xidmprecord_takes_no_empty_name(r: R) -> None:
    assert r.run("XIDMPRECORD", "missing", "", "", "1") == "ERR producer ID must be non-empty"
    assert r.run("XIDMPRECORD", "missing", "p", "", "1") == "ERR idempotent ID must be non-empty"
    assert r.run("XIDMPRECORD", "missing", "", "", "bad") == INVALID_ID


def test_xidmprecord_makes_a_key_that_xadd_finds(r: R) -> None:
    r.lines("XADD s 1 f v\nXIDMPRECORD s p i 1")
    assert r.line("XADD s IDMP p i * f v") == "1-0"
    info = r.info("s")
    assert (info["pids-tracked"], info["iids-tracked"], info["iids-added"], info["iids-duplicates"]) == (
        *(1, 1),
        *(1, 1),
    )


def test_xidmprecord_repeated_changes_nothing_and_with_another_id_is_refused(r: R) -> None:
    r.lines("XADD s 1 f v\nXADD s 2 f v\nXIDMPRECORD s p i 1")
    assert not r.outcome("XIDMPRECORD", "s", "p", "i", "1").effects
    conflict = "ERR IID already exists for this producer with a different stream ID"
    assert r.line("XIDMPRECORD s p i 2") == conflict
    assert r.info("s")["iids-added"] == 1


def test_a_recorded_key_expires_by_its_entrys_id_behind_those_that_came_before_it(r: R) -> None:
    r.lines("XADD s 1 f v\nXADD s IDMP p young * f v\nXIDMPRECORD s p old 1\nXIDMPRECORD s q old 1")
    r.engine.execute(ExpireIdempotencyKeys(), r.now_ms)
    assert (r.info("s")["pids-tracked"], r.info("s")["iids-tracked"]) == (1, 2)
