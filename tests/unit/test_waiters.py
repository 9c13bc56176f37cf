"""Which readers wake up after which change, and when."""

from __future__ import annotations

from tailrace.core.outcome import Signal, Wait, WakeUp
from tailrace.core.waiters import HEAP_SLACK, WaitQueue


def plain(*keys: bytes, until_ms: int | None = None) -> Wait:
    return Wait(keys, None, until_ms, None)


def grouped(*keys: bytes, group: bytes = b"g", claim_at_ms: int | None = None) -> Wait:
    return Wait(keys, group, None, claim_at_ms)


DATA = WakeUp(b"s", Signal.DATA)


def test_a_key_wakes_its_readers_in_the_order_in_which_they_came() -> None:
    queue = WaitQueue()
    for token in "cab":
        queue.add(token, plain(b"s"))
    queue.add("other", plain(b"t"))
    assert queue.woken([DATA]) == ["c", "a", "b"]
    assert queue.tokens() == ["c", "a", "b", "other"]


def test_a_reader_of_several_keys_is_woken_once() -> None:
    queue = WaitQueue()
    queue.add("a", plain(b"s", b"t", b"s"))
    assert queue.woken([DATA, WakeUp(b"t", Signal.DATA)]) == ["a"]


def test_a_reader_that_left_is_not_woken() -> None:
    queue = WaitQueue()
    queue.add("a", plain(b"s", until_ms=5))
    assert queue.discard("a")
    assert not queue.discard("a")
    assert queue.woken([DATA]) == []
    assert queue.due(10) == []
    assert queue.next_deadline_ms() is None
    assert len(queue) == 0
    assert "a" not in queue


def test_a_reader_that_looked_in_vain_waits_behind_the_others() -> None:
    queue = WaitQueue()
    for token in "ab":
        queue.add(token, plain(b"s"))
    queue.discard("a")
    queue.add("a", plain(b"s"))
    assert queue.woken([DATA]) == ["b", "a"]


def test_what_is_gone_wakes_group_readers_only_and_of_that_group_only() -> None:
    queue = WaitQueue()
    queue.add("plain", plain(b"s"))
    queue.add("g", grouped(b"s"))
    queue.add("h", grouped(b"s", group=b"h"))
    assert queue.woken([WakeUp(b"s", Signal.GONE)]) == ["g", "h"]
    assert queue.woken([WakeUp(b"s", Signal.GONE, b"h")]) == ["h"]


def test_deadlines_come_due_earliest_first_and_once() -> None:
    queue = WaitQueue()
    queue.add("late", plain(b"s", until_ms=30))
    queue.add("early", plain(b"s", until_ms=10))
    queue.add("claim", grouped(b"s", claim_at_ms=20))
    queue.add("never", plain(b"s"))
    assert queue.next_deadline_ms() == 10
    assert queue.due(9) == []
    assert queue.due(20) == ["early", "claim"]
    assert queue.next_deadline_ms() == 30
    assert queue.due(30) == ["late"]


def test_a_deadline_of_an_earlier_wait_of_the_same_reader_counts_no_more() -> None:
    queue = WaitQueue()
    queue.add("a", plain(b"s", until_ms=10))
    queue.discard("a")
    queue.add("a", plain(b"s", until_ms=50))
    assert queue.next_deadline_ms() == 50
    assert queue.due(10) == []


def test_deadlines_of_readers_that_left_do_not_pile_up() -> None:
    queue = WaitQueue()
    for number in range(10 * HEAP_SLACK):
        queue.add(number, plain(b"s", until_ms=1_000_000 + number))
        queue.discard(number)
    queue.add("a", plain(b"s", until_ms=7))
    assert len(queue._deadlines) <= HEAP_SLACK + 4
    assert queue.due(7) == ["a"]
