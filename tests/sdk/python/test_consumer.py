"""The loop of a consumer: which entries it passes on, settles, claims, stores as dead letters and returns."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from tailrace_client import (
    Consumer,
    ConsumerHooks,
    CountingHooks,
    ExactFields,
    Item,
    Stream,
    Tailrace,
    TailraceError,
)
from tailrace_client.consumer_options import ConsumerOptions
from tailrace_client.consumer_state import ConsumerState, Work
from tests.support.cutting_proxy import CuttingProxy

Make = Callable[..., Consumer]


@pytest.fixture
def make(tailrace: Tailrace, key: str) -> Make:
    """A consumer of the test's stream that stops without delay."""

    def consumer(name: str = "alice", **options: object) -> Consumer:
        return Consumer(tailrace, key, "g", name, **{"wait_ms": 100, **options})  # type: ignore[arg-type]

    return consumer


def fill(stream: Stream, count: int) -> list[str]:
    stream.append_many({"n": str(number)} for number in range(count))
    return [entry_id for entry_id, _ in stream.read()]


def pending(stream: Stream) -> list[tuple[str, str | None, int]]:
    return [(each.id, each.consumer, each.deliveries) for each in stream.group("g").pending(count=1_000)]


def test_a_consumer_makes_the_group_hands_out_items_and_acknowledges_them(stream: Stream, make: Make) -> None:
    ids = fill(stream, 5)
    consumer = make()
    seen = []
    for item in consumer:
        seen.append((item.stream, item.id, item.fields["n"], item.deliveries, item.idle_ms))
        item.ack()
        assert item.id not in [entry_id for entry_id, _, _ in pending(stream)]
        if len(seen) == 5:
            consumer.stop()
    assert seen == [(stream.key, entry_id, str(n), 0, 0) for n, entry_id in enumerate(ids)]
    assert pending(stream) == []


def test_several_streams_are_consumed_together(stream: Stream, tailrace: Tailrace) -> None:
    other = tailrace.stream(f"{stream.key}:other")
    fill(stream, 3)
    fill(other, 3)
    consumer = Consumer(tailrace, [stream.key, other.key], "g", "alice", wait_ms=100)
    seen = []
    for item in consumer:
        item.ack()
        seen.append((item.stream, item.fields["n"]))
        if len(seen) == 6:
            break
    assert sorted(seen) == sorted((each.key, str(n)) for each in (stream, other) for n in range(3))
    assert pending(stream) == pending(other) == []


def test_run_acknowledges_what_its_handler_did(stream: Stream, make: Make) -> None:
    fill(stream, 250)
    consumer = make(batch=100)
    done: list[str] = []

    @consumer.handler
    def handle(item: Item) -> None:
        done.append(item.fields["n"])
        if len(done) == 250:
            consumer.stop()

    consumer.run()
    assert done == [str(n) for n in range(250)]
    assert pending(stream) == []


def test_run_without_a_handler_is_refused(make: Make) -> None:
    with pytest.raises(ValueError, match="needs a handler"):
        make().run()


def test_handlers_run_in_as_many_threads_as_asked(stream: Stream, make: Make) -> None:
    fill(stream, 8)
    consumer = make()
    together = threading.Barrier(4, timeout=30)
    done: list[str] = []

    def handle(item: Item) -> None:
        together.wait()  # passes only with four handlers at a time
        done.append(item.id)
        if len(done) == 8:
            consumer.stop()

    consumer.run(handle, concurrency=4)
    assert len(set(done)) == 8
    assert pending(stream) == []


def test_stop_gives_back_what_was_not_begun_as_if_it_had_not_been_delivered(
    stream: Stream, make: Make
) -> None:
    ids = fill(stream, 10)
    consumer = make()
    for item in consumer:
        item.ack()
        consumer.stop()
    assert pending(stream) == [(entry_id, None, 0) for entry_id in ids[1:]]
    # Any consumer that claims gets them at once, whatever the idle time.
    taken = stream.group("g").read("bob", claim_min_idle_ms=3_600_000)
    assert [(each.id, each.deliveries) for each in taken] == [(entry_id, 0) for entry_id in ids[1:]]


def test_breaking_off_a_loop_gives_back_and_the_item_in_hand_stays_pending(
    stream: Stream, make: Make
) -> None:
    ids = fill(stream, 3)
    for _item in make():
        break
    assert pending(stream) == [(ids[0], "alice", 1), (ids[1], None, 0), (ids[2], None, 0)]


def test_without_claims_the_entries_that_were_not_begun_wait_for_the_next_start(
    stream: Stream, make: Make
) -> None:
    ids = fill(stream, 3)
    consumer = make(claim_min_idle_ms=None)
    for item in consumer:
        item.ack()
        consumer.stop()
    assert pending(stream) == [(entry_id, "alice", 1) for entry_id in ids[1:]]
    seen = []
    for item in consumer:
        item.ack()
        seen.append(item.id)
        if len(seen) == 2:
            consumer.stop()
    assert seen == ids[1:]


def test_a_stop_before_the_loop_ends_it_at_once(stream: Stream, make: Make) -> None:
    fill(stream, 3)
    consumer = make()
    consumer.stop()
    assert list(consumer) == []


def test_an_item_that_is_given_back_is_delivered_again_and_counts(stream: Stream, make: Make) -> None:
    fill(stream, 1)
    consumer = make(claim_min_idle_ms=3_600_000)
    deliveries = []
    for item in consumer:
        deliveries.append(item.deliveries)
        if len(deliveries) < 3:
            item.nack()
        else:
            item.ack()
            consumer.stop()
    assert deliveries == [0, 1, 2]


def test_what_a_handler_failed_on_comes_back_when_it_is_idle_long_enough(stream: Stream, make: Make) -> None:
    fill(stream, 3)
    consumer = make(claim_min_idle_ms=200)
    tries: list[tuple[str, int]] = []

    def handle(item: Item) -> None:
        tries.append((item.fields["n"], item.deliveries))
        if tries[-1] == ("1", 0):
            raise RuntimeError("once")
        if len(tries) == 4:
            consumer.stop()

    consumer.run(handle)
    assert tries == [("0", 0), ("1", 0), ("2", 0), ("1", 1)]
    assert pending(stream) == []


def test_poison_goes_to_the_dead_letters_once_with_all_that_is_known_of_it(
    stream: Stream, make: Make, tailrace: Tailrace
) -> None:
    letters = tailrace.stream(f"{stream.key}:letters")
    stream.append({"n": "good"})
    poison = stream.append([("n", "poison"), ("n", "twice"), ("raw", b"\xff")])
    consumer = make(claim_min_idle_ms=50, max_deliveries=3, dead_letter_stream=letters.key)
    tries = []

    def handle(item: Item) -> None:
        if item.id == poison:
            tries.append(item.deliveries)
            if len(tries) == 3:
                consumer.stop()
            raise ValueError("cannot be done")

    consumer.run(handle)
    assert tries == [0, 1, 2]
    assert pending(stream) == []
    [(_, letter)] = letters.read()
    assert isinstance(letter, ExactFields)
    assert letter.pairs == (
        (b"origin_stream", stream.key.encode()),
        (b"origin_group", b"g"),
        (b"origin_id", poison.encode()),
        (b"deliveries", b"3"),
        (b"last_error", b"ValueError: cannot be done"),
        (b"n", b"poison"),
        (b"n", b"twice"),
        (b"raw", b"\xff"),
    )


def test_what_killed_its_consumers_is_set_aside_unseen(
    stream: Stream, make: Make, tailrace: Tailrace
) -> None:
    [poison, good] = fill(stream, 2)
    group = stream.group("g")
    group.create("0")
    group.read("dead 1", 1)
    group.claim("dead 2", poison, min_idle_ms=0)
    consumer = make(claim_min_idle_ms=1, max_deliveries=2)
    for item in consumer:
        assert item.id == good
        item.ack()
        consumer.stop()
    [(_, letter)] = tailrace.stream(f"{stream.key}:dead").read()
    assert (letter["origin_id"], letter["deliveries"], letter["last_error"]) == (poison, "2", "")
    assert pending(stream) == []


def test_an_entry_whose_dead_letter_is_refused_stays_pending(
    stream: Stream, make: Make, tailrace: Tailrace, caplog: pytest.LogCaptureFixture
) -> None:
    [poison] = fill(stream, 1)
    full = tailrace.stream(f"{stream.key}:full")
    full.append({"last": "id"}, id="18446744073709551615-18446744073709551615")
    consumer = make(max_deliveries=1, dead_letter_stream=full.key)

    def handle(_item: Item) -> None:
        consumer.stop()
        raise ValueError("poison")

    consumer.run(handle)
    assert full.length() == 1
    assert [entry.id for entry in stream.group("g").pending()] == [poison]
    assert f"{poison} stays pending" in caplog.text


def test_a_lost_answer_to_a_dead_letter_leaves_one_letter(
    stream: Stream, cut_tailrace: Tailrace, proxy: CuttingProxy, tailrace: Tailrace
) -> None:
    fill(stream, 1)
    consumer = Consumer(cut_tailrace, stream.key, "g", "alice", wait_ms=100, max_deliveries=1)

    def handle(_item: Item) -> None:
        proxy.cut_after(0, 0)
        consumer.stop()
        raise ValueError("poison")

    consumer.run(handle)
    assert proxy.cuts == 2
    assert len(list(tailrace.stream(f"{stream.key}:dead").read())) == 1
    assert pending(stream) == []


def test_the_lease_of_long_work_is_extended_and_no_delivery_is_counted(stream: Stream, make: Make) -> None:
    [entry_id] = fill(stream, 1)
    consumer = make(claim_min_idle_ms=1_200)
    for item in consumer:
        # The server waits more than twice as long as the lease for the entry to become idle.
        assert stream.group("g").read("bob", claim_min_idle_ms=1_200, wait_ms=3_000) == []
        assert pending(stream) == [(entry_id, "alice", 1)]
        item.ack()
        consumer.stop()
    assert pending(stream) == []


def test_a_lease_can_have_any_length(stream: Stream, make: Make) -> None:
    fill(stream, 1)
    consumer = make(claim_min_idle_ms=2**63 - 1)
    assert consumer.options.beat_s == 3_600
    for item in consumer:
        item.ack()
        consumer.stop()
    assert pending(stream) == []


def test_what_another_took_over_is_left_to_it(stream: Stream, make: Make) -> None:
    [entry_id] = fill(stream, 1)
    consumer = make(claim_min_idle_ms=300)
    for _item in consumer:
        stream.group("g").claim("bob", entry_id, min_idle_ms=0)
        # Bob's lease must expire. If his consumer renewed it, this read would time out empty.
        taken = stream.group("g").read("carol", claim_min_idle_ms=900, wait_ms=10_000)
        assert [each.id for each in taken] == [entry_id]
        consumer.stop()
    assert pending(stream) == [(entry_id, "carol", 3)]


class Losses(ConsumerHooks):
    """Remembers which entries were lost."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.came = threading.Event()

    def lost(self, consumer: ConsumerOptions, items: Sequence[Work]) -> None:
        assert consumer.group == "g"
        self.ids += [item.id for item in items]
        self.came.set()


@pytest.mark.parametrize("error", [None, KeyError("n")])
def test_an_item_that_another_claimed_says_so_and_is_settled_no_more(
    stream: Stream, make: Make, error: Exception | None, caplog: pytest.LogCaptureFixture
) -> None:
    [entry_id] = fill(stream, 1)
    losses, counts = Losses(), CountingHooks()
    consumer = make(claim_min_idle_ms=300, on_failure="nack", hooks=[losses, counts])

    @consumer.handler
    def handle(item: Item) -> None:
        assert not item.wait_lost(timeout_s=0)
        stream.group("g").claim("bob", entry_id, min_idle_ms=0)
        assert item.wait_lost(timeout_s=30)
        assert item.is_lost
        consumer.stop()
        if error is not None:
            raise error
        assert (item.ack(), item.nack(), item.is_settled) == (False, False, False)

    consumer.run()
    assert pending(stream) == [(entry_id, "bob", 2)]
    assert losses.ids == [entry_id]
    assert (counts.lost_count, counts.outcomes) == (1, {})
    assert f"lost 1 of the entries of {stream.key}, claimed by another consumer" in caplog.text


def test_an_item_that_is_lost_before_a_worker_has_it_is_passed_to_none(stream: Stream, make: Make) -> None:
    first, second, third = fill(stream, 3)
    losses = Losses()
    consumer = make(claim_min_idle_ms=300, order_by="lane", hooks=[losses])
    seen = []
    for item in consumer:
        seen.append(item.id)
        if item.id == first:
            stream.group("g").claim("bob", second, min_idle_ms=0)
            assert losses.came.wait(30)
        assert item.ack()
        if item.id == third:
            consumer.stop()
    assert seen == [first, third]
    assert pending(stream) == [(second, "bob", 2)]


def test_an_acknowledgment_that_does_not_count_says_so(stream: Stream, make: Make) -> None:
    first, second, _third, _fourth = fill(stream, 4)
    losses = Losses()
    consumer = make(extend_leases=False, hooks=[losses])
    batches = consumer.batches(3)
    batch = next(batches)
    stream.group("g").ack(first, second)
    assert (batch[0].ack(), batch[0].is_lost, batch.ack(), batch[2].ack()) == (False, True, 1, True)
    assert losses.ids == [first]
    batch = next(batches)
    stream.group("g").destroy()
    assert batch.nack() == 0
    assert batch[0].is_lost
    batches.close()


def test_an_acknowledgment_whose_answer_is_lost_counts(
    stream: Stream, proxy: CuttingProxy, cut_tailrace: Tailrace
) -> None:
    fill(stream, 1)
    consumer = Consumer(cut_tailrace, stream.key, "g", "alice", wait_ms=100)
    for item in consumer:
        proxy.cut_after(0)
        assert item.ack()
        consumer.stop()
    assert proxy.cuts == 1
    assert pending(stream) == []


def test_a_group_that_vanishes_is_made_again_and_nothing_new_is_missed(stream: Stream, make: Make) -> None:
    fill(stream, 2)
    consumer = make()
    seen = []
    for item in consumer:
        item.ack()
        seen.append(item.fields["n"])
        if seen == ["0", "1"]:
            stream.group("g").destroy()
            stream.append({"n": "2"})
        elif seen == ["0", "1", "2"]:
            stream.delete()
            stream.append({"n": "3"})
        elif len(seen) == 4:
            consumer.stop()
    assert seen == ["0", "1", "2", "3"]


@pytest.mark.parametrize("is_waiting", [True, False], ids=["waiting", "busy"])
def test_a_stream_that_is_created_again_with_lower_ids_is_consumed_from_its_beginning(
    stream: Stream, make: Make, *, is_waiting: bool
) -> None:
    stream.append({"n": "old"}, id="9-0")
    consumer = make(wait_ms=60_000)
    seen = []

    def create_again() -> None:
        stream.delete()
        for entry_id in ("1-0", "9-0", "20-0"):
            stream.append({"n": entry_id}, id=entry_id)

    with ThreadPoolExecutor(1) as others:
        for item in consumer:
            seen.append(item.fields["n"])
            if seen == ["old"] and not is_waiting:
                create_again()
                # The acknowledgment is of the earlier stream, so it must not count for the later one.
                assert not item.ack()
                continue
            assert item.ack()
            if seen == ["old"]:
                others.submit(create_again)
            elif len(seen) == 4:
                consumer.stop()
    assert seen == ["old", "1-0", "9-0", "20-0"]
    assert pending(stream) == []


@pytest.mark.parametrize("missing", ["stream", "group"])
def test_a_consumer_that_has_received_nothing_begins_a_deleted_stream_at_its_beginning(
    make: Make, missing: str
) -> None:
    consumer = make(after="$")
    state = ConsumerState[Item](consumer.options)
    key = consumer.options.streams[0]
    problem = {"key": key, "group": "g", "missing": missing}
    assert state.begin_anew(TailraceError("NOGROUP", "", status=404, problem=problem)) == []
    [call] = state.create_calls()
    assert call.request["json"]["after"] == {"stream": "0-0", "group": "$"}[missing]


@pytest.mark.parametrize("settle", [Item.ack, Item.nack])
def test_settling_without_the_group_is_an_error_only_where_the_consumer_does_not_make_it(
    stream: Stream, make: Make, settle: Callable[[Item], bool]
) -> None:
    fill(stream, 1)
    stream.group("g").create("0-0")
    item = next(iter(make(create_group=False)))
    stream.group("g").destroy()
    with pytest.raises(TailraceError) as refused:
        settle(item)
    assert (refused.value.code, refused.value.key, refused.value.group) == ("NOGROUP", stream.key, "g")
    seen = []
    consumer = make()
    for each in consumer:
        stream.group("g").destroy()
        settle(each)
        seen.append(each.fields["n"])
        if len(seen) == 1:
            stream.append({"n": "next"})
        else:
            consumer.stop()
    assert seen == ["0", "next"]


def test_who_does_not_make_groups_is_told_that_there_is_none(make: Make) -> None:
    with pytest.raises(TailraceError) as refused:
        make(create_group=False).run(lambda _item: None, concurrency=3)
    assert refused.value.code in {"NOGROUP", "NO_SUCH_STREAM"}


def test_a_group_begins_where_it_is_told_to(stream: Stream, make: Make) -> None:
    fill(stream, 3)
    consumer = make(after="$")
    stream.group("g").create("$")
    stream.append({"n": "new"})
    for item in consumer:
        assert item.fields["n"] == "new"
        consumer.stop()


def test_without_a_claim_time_a_consumer_claims_by_the_setting_of_its_group(
    stream: Stream, make: Make
) -> None:
    [entry_id] = fill(stream, 1)
    group = stream.group("g")
    group.create("0")
    group.configure(claim_min_idle_ms=60_000)
    group.read("bob")
    group.nack(entry_id)
    for item in make(claim_min_idle_ms=None):
        assert (item.id, item.deliveries) == (entry_id, 1)
        item.ack()
        break


def test_without_claims_a_consumer_begins_with_what_it_left_pending(stream: Stream, make: Make) -> None:
    ids = fill(stream, 4)
    group = stream.group("g")
    group.create("0")
    group.read("alice", 2)
    stream.delete_entries(ids[0])
    consumer = make(batch=1, claim_min_idle_ms=None)
    seen = []
    for item in consumer:
        item.ack()
        seen.append((item.id, item.deliveries))
        if len(seen) == 3:
            consumer.stop()
    assert seen == [(ids[1], 1), (ids[2], 0), (ids[3], 0)]
    assert pending(stream) == []


@pytest.mark.parametrize("claim_min_idle_ms", [None, 300])
def test_a_lost_answer_to_a_read_loses_no_entry(
    stream: Stream, cut_tailrace: Tailrace, proxy: CuttingProxy, claim_min_idle_ms: int | None
) -> None:
    fill(stream, 30)
    stream.group("g").create("0")
    consumer = Consumer(
        cut_tailrace, stream.key, "g", "alice", batch=10, wait_ms=100, claim_min_idle_ms=claim_min_idle_ms
    )
    seen = set()
    proxy.cut_after(0, 400)
    for item in consumer:
        item.ack()
        seen.add(item.fields["n"])
        if len(seen) == 30:
            consumer.stop()
    assert proxy.cuts == 2
    assert pending(stream) == []


def test_an_entry_in_hand_is_not_handed_out_twice_to_the_same_consumer(stream: Stream, make: Make) -> None:
    [entry_id] = fill(stream, 1)
    consumer = make(claim_min_idle_ms=300)
    seen = []

    def handle(item: Item) -> None:
        seen.append(item.id)
        # Another hand gives it back: the group then gives it to this same consumer again, at once.
        stream.group("g").nack(item.id)
        nobody_has_it = True
        while nobody_has_it:
            nobody_has_it = [owner for _, owner, _ in pending(stream)] == [None]
        consumer.stop()

    consumer.run(handle, concurrency=2)
    assert seen == [entry_id]
    assert pending(stream) == []


@pytest.mark.parametrize(
    ("options", "told"),
    [({"streams": []}, "streams"), ({"batch": 0}, "batch=0"), ({"max_deliveries": 0}, "max_deliveries=0")],
)
def test_options_that_make_no_sense_are_refused(
    tailrace: Tailrace, options: dict[str, object], told: str
) -> None:
    arguments = {"streams": "s", **options}
    with pytest.raises(ValueError, match=told):
        Consumer(tailrace, group="g", consumer="alice", **arguments)  # type: ignore[arg-type]


def test_what_a_handler_settled_itself_is_left_so(stream: Stream, make: Make, tailrace: Tailrace) -> None:
    fill(stream, 3)
    consumer = make(max_deliveries=1)

    def handle(item: Item) -> None:
        if item.fields["n"] == "0":
            item.nack()
        elif item.fields["n"] == "1":
            item.ack()
            raise ValueError("after the work was done")
        else:
            consumer.stop()

    consumer.run(handle)
    assert [(owner, deliveries) for _, owner, deliveries in pending(stream)] == [(None, 1)]
    assert list(tailrace.stream(f"{stream.key}:dead").read()) == []
