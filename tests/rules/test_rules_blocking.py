"""Rules 41 to 46: how readers wait, which readers a change wakes, and what they receive."""

from __future__ import annotations

import pytest

from tailrace.core.errors import StreamError
from tailrace.core.outcome import Outcome, Signal
from tailrace.core.waiters import WaitQueue
from tests.rules.lines import no_group_to_read
from tests.support.redis_like import START_MS, R, entry_count, read_ids, readable

CLAIM = "XREADGROUP GROUP g bob CLAIM"


def delivered(r: R, count: int = 4, key: str = "s") -> R:
    """A stream of ids 1-0 to `count`, all pending for alice, one millisecond after another."""
    r.run("XGROUP", "CREATE", key, "g", "0", "MKSTREAM")
    for number in range(1, count + 1):
        r.run("XADD", key, number, "f", number)
        r.run("XREADGROUP", "GROUP", "g", "alice", "STREAMS", key, ">")
        r.now_ms += 1
    return r


def waiting(r: R, text: str) -> Outcome:
    """The outcome of a read that finds nothing and waits."""
    outcome = r.outcome(*text.split())
    assert outcome.wait is not None
    return outcome


def reply_of(r: R, outcome: Outcome) -> object:
    """A waiting read's reply after it looked again, by the shape of XREADGROUP."""
    return readable(
        r.request("XREADGROUP", "GROUP", "g", "x", "STREAMS", "s", ">").to_resp(r.again(outcome).reply)
    )


def wakes(r: R, text: str) -> set[tuple[bytes | None, Signal, bytes | None]]:
    """Return the wake-ups of a command: key, reason and group."""
    return {(wake_up.key, wake_up.signal, wake_up.group) for wake_up in r.outcome(*text.split()).wake_ups}


def test_rule_41_a_waiting_claim_is_due_when_the_oldest_live_pending_entry_is_idle_enough(r: R) -> None:
    delivered(r, 3)
    r.line("XDEL s 1")
    wait = waiting(r, f"{CLAIM} 400 BLOCK 1000 STREAMS s >").wait
    assert wait is not None
    assert (wait.claim_at_ms, wait.until_ms) == (START_MS + 1 + 400, r.now_ms + 1000)


def test_rule_41_over_several_streams_the_earliest_counts(r: R) -> None:
    delivered(r, 1)
    delivered(r, 1, key="t")
    r.line("XCLAIM t g alice 0 1 IDLE 300")
    wait = waiting(r, f"{CLAIM} 400 BLOCK 0 STREAMS s t > >").wait
    assert wait is not None
    assert wait.claim_at_ms == r.now_ms + 100


def test_rule_41_with_nothing_pending_it_looks_again_after_min_idle(r: R) -> None:
    r.line("XGROUP CREATE s g 0 MKSTREAM")
    wait = waiting(r, f"{CLAIM} 400 BLOCK 0 STREAMS s >").wait
    assert wait is not None
    assert wait.claim_at_ms == r.now_ms + 400


def test_rule_41_a_woken_claim_looks_again_and_waits_on_until_its_first_timeout(r: R) -> None:
    delivered(r, 1)
    first = waiting(r, f"{CLAIM} 400 BLOCK 1000 STREAMS s >")
    assert first.wait is not None
    assert first.wait.claim_at_ms is not None
    r.now_ms = first.wait.claim_at_ms - 1
    again = r.again(first)
    assert again.wait is not None
    assert (again.wait.claim_at_ms, again.wait.until_ms) == (first.wait.claim_at_ms, first.wait.until_ms)
    r.now_ms += 1
    assert read_ids(reply_of(r, again)) == {"s": ["1-0"]}


def test_rule_41_a_nack_wakes_and_making_an_entry_older_does_not(r: R) -> None:
    delivered(r, 2)
    assert wakes(r, "XCLAIM s g alice 0 1 IDLE 9999") == set()
    assert {(key, signal) for key, signal, _ in wakes(r, "XNACK s g FAIL IDS 1 1")} == {(b"s", Signal.DATA)}


def test_rule_42_waking_is_running_the_whole_command_again(r: R) -> None:
    r.line("XGROUP CREATE s g 0 MKSTREAM")
    outcome = waiting(r, "XREADGROUP GROUP g alice COUNT 3 BLOCK 0 STREAMS s >")
    for number in range(1, 6):
        assert wakes(r, f"XADD s {number} f v") == {(b"s", Signal.DATA, None)}
    assert read_ids(reply_of(r, outcome)) == {"s": ["1-0", "2-0", "3-0"]}
    everything = waiting(r, "XREAD BLOCK 0 STREAMS t 0")
    for number in range(1, 1500):
        r.run("XADD", "t", number, "f", "v")
    assert entry_count(r.again(everything)) == 1499


def test_rule_43_readers_of_a_key_look_in_the_order_in_which_they_came(r: R) -> None:
    r.line("XGROUP CREATE s g 0 MKSTREAM")
    queue = WaitQueue()
    readers = {}
    for name in ("first", "second", "third"):
        readers[name] = waiting(r, f"XREADGROUP GROUP g {name} BLOCK 0 STREAMS s >")
        queue.add(name, readers[name].wait)  # type: ignore[arg-type]
    woken = queue.woken(r.outcome("XADD", "s", "1", "f", "v").wake_ups)
    assert woken == ["first", "second", "third"]
    served = [name for name in woken if r.again(readers[str(name)]).wait is None]
    assert served == ["first"], "without COUNT the first one of a group takes all"


def test_rule_43_a_reader_that_looked_in_vain_waits_behind_those_who_came_later(r: R) -> None:
    queue = WaitQueue()
    outcome = waiting(r, "XREAD BLOCK 0 STREAMS s $")
    assert outcome.wait is not None
    for name in ("first", "second"):
        queue.add(name, outcome.wait)
    assert queue.discard("first")
    queue.add("first", outcome.wait)
    assert queue.woken(r.outcome("XADD", "s", "1", "f", "v").wake_ups) == ["second", "first"]


def test_rule_43_plain_readers_are_all_served(r: R) -> None:
    both = [waiting(r, "XREAD BLOCK 0 STREAMS s $") for _ in range(2)]
    r.line("XADD s 1 f v")
    assert [read_ids(reply_of(r, outcome)) for outcome in both] == [{"s": ["1-0"]}] * 2


def test_rule_44_a_transaction_wakes_once_with_everything(r: R) -> None:
    outcome = waiting(r, "XREAD BLOCK 0 STREAMS s $")
    _, done = r.transaction_outcome(["XADD", "s", "1", "f", "v"], ["XADD", "s", "2", "f", "v"])
    queue = WaitQueue()
    assert outcome.wait is not None
    queue.add("reader", outcome.wait)
    assert queue.woken(done.wake_ups) == ["reader"]
    assert read_ids(reply_of(r, outcome)) == {"s": ["1-0", "2-0"]}


def test_rule_44_what_a_transaction_adds_and_deletes_serves_nobody(r: R) -> None:
    outcome = waiting(r, "XREAD BLOCK 0 STREAMS s $")
    r.transaction(["XADD", "s", "1", "f", "v"], ["XDEL", "s", "1"])
    assert r.again(outcome).wait is not None
    r.transaction(["XADD", "s", "2", "f", "v"], ["DEL", "s"])
    assert r.again(outcome).wait is not None


def test_rule_45_group_readers_are_told_that_their_stream_or_group_is_gone(r: R) -> None:
    for words in ("DEL s", "XGROUP DESTROY s g", "RENAME s elsewhere", "FLUSHALL"):
        r.lines("FLUSHALL\nXGROUP CREATE s g 0 MKSTREAM")
        outcome = waiting(r, "XREADGROUP GROUP g alice BLOCK 0 STREAMS s >")
        queue = WaitQueue()
        assert outcome.wait is not None
        queue.add("reader", outcome.wait)
        assert queue.woken(r.outcome(*words.split()).wake_ups) == ["reader"], words
        with pytest.raises(StreamError) as refused:
            r.again(outcome)
        assert refused.value.line == no_group_to_read("s", "g")


def test_rule_45_a_stream_renamed_to_the_key_serves_its_readers(r: R) -> None:
    outcome = waiting(r, "XREAD BLOCK 0 STREAMS s 0")
    r.line("XADD t 1 f v")
    queue = WaitQueue()
    assert outcome.wait is not None
    queue.add("reader", outcome.wait)
    assert queue.woken(r.outcome("RENAME", "t", "s").wake_ups) == ["reader"]
    assert read_ids(reply_of(r, outcome)) == {"s": ["1-0"]}


def test_rule_45_plain_readers_wait_on_with_their_old_position_through_a_deletion(r: R) -> None:
    r.line("XADD s 5 f v")
    outcome = waiting(r, "XREAD BLOCK 0 STREAMS s $")
    queue = WaitQueue()
    assert outcome.wait is not None
    queue.add("reader", outcome.wait)
    assert queue.woken(r.outcome("DEL", "s").wake_ups) == []
    r.line("XADD s 3 f v")
    assert r.again(outcome).wait is not None, "a new stream with smaller ids does not reach it"
    r.line("XADD s 6 f v")
    assert read_ids(reply_of(r, outcome)) == {"s": ["6-0"]}


def test_rule_45_moving_a_group_back_wakes_nobody(r: R) -> None:
    r.lines("XADD s 1 f v\nXGROUP CREATE s g $")
    assert wakes(r, "XGROUP SETID s g 0") == set()


def test_rule_46_timeouts_are_absolute_and_kept_when_looking_again(r: R) -> None:
    first = waiting(r, "XREAD BLOCK 300 STREAMS s $")
    r.now_ms += 200
    again = r.again(first)
    assert first.wait is not None
    assert again.wait is not None
    assert first.wait.until_ms == again.wait.until_ms == START_MS + 300


def test_rule_46_at_the_timeout_the_answer_is_nil(r: R) -> None:
    outcome = waiting(r, "XREAD BLOCK 300 STREAMS s $")
    queue = WaitQueue()
    assert outcome.wait is not None
    queue.add("reader", outcome.wait)
    assert queue.next_deadline_ms() == START_MS + 300
    assert queue.due(START_MS + 299) == []
    assert queue.due(START_MS + 300) == ["reader"]
    assert reply_of(r, outcome) is None
