"""Entries that are gone before they were read are never passed over in silence, and a replay reads the same
parts."""

from __future__ import annotations

from typing import Any

import pytest

from tailrace_client import Tailrace
from tailrace_spark.errors import DataLoss
from tests.spark.readers import Query, add, batch_parts, delete, drop, ids_in, trim

NINE = [f"{ms}-0" for ms in range(1, 10)]
TRIMMED = "entries were trimmed before they were read"


# --- between the plan and the tasks -------------------------------------------------------------------


@pytest.mark.parametrize("min_id", ["5-0", "99-0"])
def test_a_planned_batch_whose_first_entries_or_all_were_trimmed_is_data_loss(
    base_url: str, min_id: str
) -> None:
    stream = f"planned:{min_id}"
    add(base_url, stream, *NINE)
    query = Query(base_url, stream=stream)
    end = query.plan()
    trim(base_url, stream, min_id)
    begins = min_id if min_id == "5-0" else "9-1"
    with pytest.raises(DataLoss, match=f"{TRIMMED}; the stream begins at {begins} now. To continue") as loss:
        query.run(end)
    assert "strict" not in str(loss.value), "an option that Spark does not have"
    lossy = Query(base_url, stream=stream, failOnDataLoss="false")
    assert lossy.run(end) == [[entry_id for entry_id in NINE if min_id == "5-0" and entry_id >= min_id]]


def test_entries_that_are_trimmed_before_the_task_of_their_part_ends_are_data_loss(base_url: str) -> None:
    add(base_url, "in-task", *NINE)
    query = Query(base_url, stream="in-task", minPartitions=3)
    parts = query.reader.partitions(query.offset, query.plan())
    trim(base_url, "in-task", "5-0")
    for part in parts[:2]:
        with pytest.raises(DataLoss, match=TRIMMED):
            ids_in(query.reader.read(part))
    assert ids_in(query.reader.read(parts[2])) == NINE[6:]


def test_entries_that_are_trimmed_behind_one_that_a_group_still_needs_are_data_loss(base_url: str) -> None:
    add(base_url, "behind", *NINE)
    query = Query(base_url, stream="behind")
    end = query.plan()
    with Tailrace(base_url) as tailrace:
        group = tailrace.stream("behind").group("slow")
        group.create("0")
        group.read("consumer")
        group.ack(*NINE[1:])
        tailrace.stream("behind").trim(min_id="99-0", approximate=False, references="acknowledged")
        assert tailrace.stream("behind").info().first_id == "1-0"
    with pytest.raises(DataLoss, match=TRIMMED):
        query.run(end)


def test_a_batch_that_an_earlier_release_planned_is_data_loss_once_it_is_trimmed(base_url: str) -> None:
    add(base_url, "earlier:trimmed", *NINE)
    query = Query(base_url, stream="earlier:trimmed", offset={"id": "2-0"})
    trim(base_url, "earlier:trimmed", "99-0")
    with pytest.raises(DataLoss, match=TRIMMED):
        query.run({"id": "9-0"})


# --- replays -------------------------------------------------------------------------------------------


def test_a_replayed_batch_has_the_same_parts_whatever_was_deleted_meanwhile(base_url: str) -> None:
    add(base_url, "replayed", *NINE)
    query = Query(base_url, stream="replayed", minPartitions=3)
    end = query.plan()
    assert query.run(end) == [NINE[0:3], NINE[3:6], NINE[6:9]]
    delete(base_url, "replayed", "1-0", "2-0", "4-0", "5-0", "6-0")
    again = Query(base_url, stream="replayed", minPartitions=2)
    assert again.run(end) == [["3-0"], [], NINE[6:9]]


def test_the_first_batch_is_replayed_from_the_start_that_was_pinned(base_url: str) -> None:
    add(base_url, "pinned", "1-0")
    query = Query(base_url, stream="pinned", startingOffsets="latest")
    first = query.plan()
    assert query.run(first) == []
    add(base_url, "pinned", "2-0")
    assert query.plan() != first, "it was not committed, so it is planned again, from what is then the end"
    query = Query(base_url, stream="pinned", offset=first, startingOffsets="latest")
    assert query.ids() == ["2-0"]


def test_offsets_of_earlier_releases_are_continued(base_url: str) -> None:
    add(base_url, "earlier", *NINE)
    query = Query(base_url, stream="earlier", minPartitions=2, maxEntriesPerTrigger=4)
    assert query.run({"from": "2-0", "id": "6-0"}) == [["3-0", "4-0"], ["5-0", "6-0"]]
    query.offset = {"from": "2-0", "id": "4-0"}
    assert query.run({"id": "7-0"}) == [["5-0"], ["6-0", "7-0"]]
    query.offset = {"id": "4-0"}
    assert query.ids() == NINE[4:8]
    assert set(query.offset) == {"streams"}
    assert query.ids() == ["9-0"]
    assert query.plan() == query.offset


def test_no_new_entries_are_no_new_offset(base_url: str) -> None:
    add(base_url, "idle", *NINE)
    query = Query(base_url, stream="idle", offset={"id": "9-0"})
    assert query.plan() == {"id": "9-0"}
    query.offset = {"id": "5-0"}
    assert query.ids() == NINE[5:]
    assert query.plan() == query.offset
    assert query.run(query.offset) == []


# --- streams that are created again ------------------------------------------------------------------------


def test_a_stream_created_again_with_later_ids_is_data_loss(base_url: str) -> None:
    add(base_url, "anew", "1-0", "2-0")
    query = Query(base_url, stream="anew")
    assert query.ids() == ["1-0", "2-0"]
    drop(base_url, "anew")
    add(base_url, "anew", "3-0", "4-0")
    with pytest.raises(DataLoss, match="deleted and created again"):
        query.plan()
    available_now = Query(base_url, stream="anew", offset=query.offset)
    available_now.reader.prepareForTriggerAvailableNow()
    with pytest.raises(DataLoss, match="deleted and created again"):
        available_now.plan()


@pytest.mark.parametrize("ids", [["3-0", "4-0"], ["1-5", "2-0"]])
@pytest.mark.parametrize("trigger", ["default", "available-now"])
def test_a_lossy_query_reads_a_stream_created_again_from_its_beginning(
    base_url: str, ids: list[str], trigger: str
) -> None:
    stream = f"lossy:{trigger}:{ids[0]}"
    add(base_url, stream, "1-0", "2-0")
    query = Query(base_url, stream=stream, failOnDataLoss="false")
    assert query.ids() == ["1-0", "2-0"]
    drop(base_url, stream)
    assert query.plan() == query.offset, "without the stream the query waits"
    add(base_url, stream, *ids)
    if trigger == "available-now":
        query.reader.prepareForTriggerAvailableNow()
    assert query.ids() == ids
    assert query.plan() == query.offset


def test_a_planned_batch_of_a_stream_created_again_is_data_loss_in_the_plan_and_in_tasks(
    base_url: str,
) -> None:
    add(base_url, "anew:planned", *NINE)
    query = Query(base_url, stream="anew:planned")
    end = query.plan()
    parts = query.reader.partitions(query.offset, end)
    drop(base_url, "anew:planned")
    for later_id in ("3-0", "4-0"):
        with pytest.raises(DataLoss, match="deleted"):
            query.run(end)
        with pytest.raises(DataLoss, match="deleted"):
            ids_in(query.reader.read(parts[0]))
        add(base_url, "anew:planned", later_id)
    lossy = Query(base_url, stream="anew:planned", failOnDataLoss="false")
    assert lossy.run(end) == [[]], "the new stream is read by the next batch, from its beginning"
    lossy.offset = end
    assert lossy.ids() == ["3-0", "4-0"]


def test_a_stream_created_again_between_plan_and_task_is_data_loss_in_a_batch_read(base_url: str) -> None:
    add(base_url, "anew:batch", *NINE)
    reader, parts = batch_parts(base_url, stream="anew:batch")
    drop(base_url, "anew:batch")
    add(base_url, "anew:batch", *NINE)
    with pytest.raises(DataLoss, match="deleted and created again"):
        ids_in(reader.read(parts[0]))


@pytest.mark.parametrize("is_loss", [True, False])
def test_a_stream_created_again_while_a_run_goes_to_its_end_is_data_loss(
    base_url: str, *, is_loss: bool
) -> None:
    stream = f"anew:now:{is_loss}"
    add(base_url, stream, "1-0", "2-0")
    query = Query(base_url, stream=stream, maxEntriesPerTrigger=1, failOnDataLoss=str(is_loss))
    query.reader.prepareForTriggerAvailableNow()
    assert query.ids() == ["1-0"]
    drop(base_url, stream)
    add(base_url, stream, "3-0", "4-0")
    if not is_loss:
        assert query.plan() == query.offset, "what came later is for the next run"
        return
    with pytest.raises(DataLoss, match="deleted and created again"):
        query.plan()


def test_a_stream_that_was_deleted_is_data_loss(base_url: str) -> None:
    add(base_url, "deleted", "1-0")
    query = Query(base_url, stream="deleted")
    assert query.ids() == ["1-0"]
    drop(base_url, "deleted")
    with pytest.raises(DataLoss, match="the stream was deleted"):
        query.plan()


def test_a_deleted_stream_of_a_pattern_is_reported_once_and_then_leaves_the_offset(
    base_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    add(base_url, "leaves:a", "1-0")
    add(base_url, "leaves:b", "1-0")
    query = Query(base_url, streamPattern="leaves:.*")
    assert query.ids() == ["1-0", "1-0"]
    drop(base_url, "leaves:b")
    with pytest.raises(DataLoss, match="the stream was deleted"):
        query.plan()
    lossy = Query(base_url, streamPattern="leaves:.*", offset=query.offset, failOnDataLoss="false")
    for _ in range(2):
        assert lossy.ids() == []
    assert caplog.text.count("the stream 'leaves:b' was deleted") == 1
    strict = Query(base_url, streamPattern="leaves:.*", offset=lossy.offset)
    add(base_url, "leaves:a", "2-0")
    add(base_url, "leaves:b", "3-0")
    assert strict.ids() == ["2-0", "3-0"]


@pytest.mark.parametrize("option", ["stream", "streamPattern"])
@pytest.mark.parametrize("ids", [["0-1"], ["1-0", "2-0"], ["1-5", "9-0"]])
def test_a_stream_created_again_with_lower_or_equal_ids_is_data_loss_and_no_empty_read(
    base_url: str, option: str, ids: list[str]
) -> None:
    stream = f"again:{option}:{ids[0]}"
    for starting in ("earliest", "latest"):
        add(base_url, stream, *NINE)
        options: dict[str, Any] = {option: stream, "startingOffsets": starting}
        query = Query(base_url, **options)
        query.ids()
        drop(base_url, stream)
        add(base_url, stream, *ids)
        if ids[-1] == NINE[-1]:
            add(base_url, stream, "10-0")  # A pattern notices an equal end with the next entry.
        with pytest.raises(DataLoss, match="deleted and created again"):
            query.plan()
        drop(base_url, stream)


def test_an_offset_without_an_incarnation_takes_that_of_the_first_look(base_url: str) -> None:
    add(base_url, "pins", "1-0", "2-0", "3-0")
    query = Query(base_url, stream="pins", offset={"id": "1-0"})
    assert query.ids() == ["2-0", "3-0"]
    drop(base_url, "pins")
    add(base_url, "pins", "4-0")
    with pytest.raises(DataLoss, match="deleted and created again"):
        query.plan()


def test_a_query_may_begin_after_the_last_entry(base_url: str) -> None:
    add(base_url, "future", "1-0")
    query = Query(base_url, stream="future", startingOffsets="5-0")
    assert query.ids() == []
    add(base_url, "future", "4-0")
    assert query.plan() == query.offset
    add(base_url, "future", "5-0")
    assert query.ids() == ["5-0"]


def test_a_stream_that_ends_below_the_offset_is_data_loss(base_url: str) -> None:
    """As after XSETID: new entries would get ids that the query has passed."""
    add(base_url, "below", "1-0")
    query = Query(base_url, stream="below", offset={"id": "5-0"})
    with pytest.raises(DataLoss, match="the stream ends at 1-0, below the query's offset 5-0"):
        query.plan()
