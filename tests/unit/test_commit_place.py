"""Where rows are committed: on the loop while the disk is fast, otherwise in the thread."""

from __future__ import annotations

from tailrace.app.store.commit_place import MEAN_NS_MAX, RETRY_NS_MAX, RETRY_NS_MIN, CommitPlace

FAST_NS = 150_000
SLOW_NS = 20_000_000


class Clock:
    now_ns = 10**12

    def __call__(self) -> int:
        return self.now_ns


def place_and_clock() -> tuple[CommitPlace, Clock]:
    clock = Clock()
    return CommitPlace(MEAN_NS_MAX, clock), clock


def test_rows_are_committed_on_the_loop_while_the_disk_is_fast() -> None:
    place, _ = place_and_clock()
    for _ in range(1000):
        assert place.is_loop()
        place.note(FAST_NS)


def test_one_sync_of_a_few_milliseconds_among_fast_ones_changes_nothing() -> None:
    place, _ = place_and_clock()
    for duration_ns in [FAST_NS] * 20 + [5 * MEAN_NS_MAX] + [FAST_NS] * 20:
        assert place.is_loop()
        place.note(duration_ns)


def test_a_slow_sync_sends_the_next_rows_to_the_thread() -> None:
    place, clock = place_and_clock()
    place.note(SLOW_NS)
    assert not place.is_loop()
    clock.now_ns += RETRY_NS_MIN - 1
    assert not place.is_loop()


def test_a_slow_disk_is_tried_again_ever_more_rarely() -> None:
    place, clock = place_and_clock()
    place.note(SLOW_NS)
    wait_ns = RETRY_NS_MIN
    for _ in range(8):
        clock.now_ns += wait_ns - 1
        assert not place.is_loop()
        clock.now_ns += 1
        assert place.is_loop()
        place.note(SLOW_NS)
        wait_ns = min(2 * wait_ns, RETRY_NS_MAX)
    assert wait_ns == RETRY_NS_MAX


def test_one_fast_try_brings_the_rows_back_to_the_loop() -> None:
    place, clock = place_and_clock()
    place.note(SLOW_NS)
    clock.now_ns += RETRY_NS_MIN
    assert place.is_loop()
    place.note(FAST_NS)
    assert place.is_loop()


def test_with_no_duration_allowed_no_row_is_committed_on_the_loop() -> None:
    clock = Clock()
    place = CommitPlace(0, clock)
    clock.now_ns += 2 * RETRY_NS_MAX
    assert not place.is_loop()
