"""Several streams in one read: chosen by a list or a pattern, with a position for each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import httpx
import pyarrow as pa
import pytest

from tailrace_client import Tailrace
from tailrace_spark.errors import BadOption, DataLoss, SourceError
from tailrace_spark.sink.staging import places_of
from tailrace_spark.source import requests
from tailrace_spark.source.batches import packs_of
from tailrace_spark.source.checkpoint import Offset
from tailrace_spark.source.options import write_options
from tailrace_spark.source.parts import Part
from tailrace_spark.source.selection import literal_prefix, selected
from tests.spark.faulty_proxy import Fault, faulty_proxy
from tests.spark.readers import Query, add, batch_parts, delete, drop, options_for


def streams_in(query: Query) -> dict[str, list[str]]:
    """The ids that the next batch reads, by `_stream`."""
    end = query.plan()
    found: dict[str, list[str]] = {}
    for name, entry_id in (row for part in parts_in(query, end) for row in part):
        found.setdefault(name, []).append(entry_id)
    query.offset = end
    return found


def parts_in(query: Query, end: Offset) -> list[list[tuple[str, str]]]:
    """`_stream` and `_id` of the entries that each part of the batch reads."""
    parts = query.reader.partitions(query.offset, end)
    return [list(rows_in(query.reader.read(part))) for part in parts]


def rows_in(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[str, str]]:
    for batch in batches:
        yield from zip(batch["_stream"].to_pylist(), batch["_id"].to_pylist(), strict=True)


# --- which streams -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({"stream": "a,b"}, ("a,b",)),
        ({"streams": "a, b,a"}, ("a", "b")),
        ({"streams": '["a,1", "b"]'}, ("a,1", "b")),
    ],
)
def test_a_list_is_separated_by_commas_or_is_json(given: dict[str, str], names: tuple[str, ...]) -> None:
    assert selected(given) == (names, None)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            {},
            "stream: the option is missing; set it to the name of a stream, or set streams or streamPattern",
        ),
        ({"stream": "a", "streams": "b"}, "stream and streams: only one of them can be set"),
        ({"streams": "a,,b"}, "streams: '' is not a string with at least one character"),
        ({"streams": "[]"}, "streams: the list is empty"),
        ({"streams": "[1]"}, "streams: 1 is not a string"),
        ({"streams": "[a"}, "streams: '[a' is not valid JSON"),
        ({"streamPattern": "a("}, "streamPattern: 'a(' is not a regular expression"),
        (
            {"streams": "a,b", "startingOffsets": '{"a":"earliest"}'},
            "startingOffsets: the stream 'b' is missing",
        ),
        (
            {"streams": "a", "startingOffsets": '{"a":"1-0","c":"1-0"}'},
            "startingOffsets: it names the stream 'c'",
        ),
        (
            {"stream": "a", "startingOffsets": '{"a":5}'},
            "startingOffsets: the value of 'a' is 5; write it as a",
        ),
        ({"stream": "a", "startingOffsets": '{"a"}'}, "startingOffsets: '{\"a\"}' is not valid JSON"),
    ],
)
def test_a_choice_of_streams_that_cannot_be_is_refused(given: dict[str, str], sentence: str) -> None:
    with pytest.raises(BadOption) as refusal:
        options_for("http://127.0.0.1:1", **given)
    assert str(refusal.value).startswith(sentence)


@pytest.mark.parametrize(
    ("pattern", "prefix"),
    [
        ("race:.*", "race:"), ("race", "race"), ("races?", "race"), ("race:[a-z]+", "race:"), ("ab+", "ab"),
        ("a{2}", ""), ("a|b", ""), (".*", ""), ("(?i)race", ""), ("race\\.x", "race"), ("x*", ""),
    ],
)  # fmt: skip
def test_only_streams_with_the_beginning_of_the_pattern_are_listed(pattern: str, prefix: str) -> None:
    _, compiled = selected({"streamPattern": pattern})
    assert compiled is not None
    assert literal_prefix(compiled) == prefix


# --- batches -------------------------------------------------------------------------------------------


def test_a_batch_read_has_the_entries_of_all_streams_each_up_to_its_own_end(base_url: str) -> None:
    add(base_url, "b:1", "1-0", "2-0", "3-0")
    add(base_url, "b:2", "1-0", "2-0", "3-0")
    add(base_url, "b:2:not", "1-0")
    starts, ends = json.dumps({"b:1": "2-0"}), json.dumps({"b:2": "2"})
    for choice in ({"streamPattern": r"b:\d"}, {"streams": "b:1,b:2"}):
        if "streams" in choice:
            starts = json.dumps({"b:1": "2-0", "b:2": "earliest"})
            ends = json.dumps({"b:1": "latest", "b:2": "2"})
        reader, parts = batch_parts(base_url, startingOffsets=starts, endingOffsets=ends, **choice)
        found = sorted(row for part in parts for row in rows_in(reader.read(part)))
        assert found == [("b:1", "2-0"), ("b:1", "3-0"), ("b:2", "1-0"), ("b:2", "2-0")]


def test_the_argument_of_load_and_save_names_the_stream() -> None:
    assert options_for("http://s", path="readings").streams == ("readings",)
    assert write_options({"url": "http://s", "path": "readings"}).stream == "readings"
    with pytest.raises(BadOption, match=r"streamPattern: the argument of load\(\) or save\(\), 'a', names"):
        options_for("http://s", path="a", streamPattern="b")
    with pytest.raises(BadOption, match="stream: the argument of load"):
        write_options({"url": "http://s", "path": "a", "stream": "b"})


def test_a_pattern_leaves_out_the_streams_in_which_writes_stage_their_rows(base_url: str) -> None:
    add(base_url, "staging:a", "1-0")
    for place in places_of("staging:a", "query"):
        add(base_url, place, "1-0")
    assert Query(base_url, streamPattern="staging:.*").ids() == ["1-0"]


def test_a_pattern_that_matches_nothing_is_an_empty_read(base_url: str) -> None:
    _, parts = batch_parts(base_url, streamPattern="no such stream")
    assert list(parts) == []
    query = Query(base_url, streamPattern="no such stream")
    assert streams_in(query) == {}
    assert query.plan() == query.offset == {"streams": {}}


def test_a_batch_read_begins_nowhere_at_the_latest(base_url: str) -> None:
    with pytest.raises(BadOption, match="'latest' leaves a batch nothing to read"):
        batch_parts(base_url, streamPattern="x", startingOffsets='{"x":"latest"}')


# --- streaming -----------------------------------------------------------------------------------------


def test_each_stream_has_its_own_position(base_url: str) -> None:
    add(base_url, "p:a", "1-0", "2-0")
    add(base_url, "p:b", "9-0")
    query = Query(base_url, streams="p:a,p:b")
    assert streams_in(query) == {"p:a": ["1-0", "2-0"], "p:b": ["9-0"]}
    add(base_url, "p:a", "3-0")
    assert streams_in(query) == {"p:a": ["3-0"]}
    assert query.offset["streams"]["p:b"]["id"] == "9-0"
    restarted = Query(base_url, offset=query.offset, streams="p:a,p:b")
    assert restarted.plan() == query.offset
    add(base_url, "p:b", "10-0")
    assert streams_in(restarted) == {"p:b": ["10-0"]}


def test_each_stream_begins_where_the_options_say(base_url: str) -> None:
    for name in ("o:a", "o:b", "o:c"):
        add(base_url, name, "1-0", "2-0")
    starts = json.dumps({"o:a": "latest", "o:b": "2-0", "o:c": "earliest"})
    query = Query(base_url, streams="o:a,o:b,o:c", startingOffsets=starts)
    assert streams_in(query) == {"o:b": ["2-0"], "o:c": ["1-0", "2-0"]}
    add(base_url, "o:a", "3-0")
    assert streams_in(query) == {"o:a": ["3-0"]}


def test_new_streams_of_a_pattern_are_read_from_their_beginning(base_url: str) -> None:
    add(base_url, "n:1", "1-0")
    query = Query(base_url, streamPattern=r"n:\d+", startingOffsets="latest")
    assert streams_in(query) == {}
    add(base_url, "n:2", "5-0", "6-0")
    add(base_url, "n:other", "5-0")
    add(base_url, "n:1", "2-0")
    assert streams_in(query) == {"n:1": ["2-0"], "n:2": ["5-0", "6-0"]}
    assert query.plan() == query.offset


def test_a_stream_that_is_added_to_the_list_is_read_from_its_beginning(base_url: str) -> None:
    add(base_url, "l:1", "1-0")
    query = Query(base_url, stream="l:1")
    assert streams_in(query) == {"l:1": ["1-0"]}
    add(base_url, "l:2", "1-0")
    longer = Query(base_url, offset=query.offset, streams="l:1,l:2", startingOffsets="latest")
    assert streams_in(longer) == {"l:2": ["1-0"]}


@pytest.mark.parametrize("choice", [{"streams": "d:1,d:2"}, {"streamPattern": "d:[12]"}])
def test_a_stream_that_was_deleted_is_data_loss_and_a_lossy_query_goes_on(
    base_url: str, choice: dict[str, Any]
) -> None:
    add(base_url, "d:1", "1-0")
    add(base_url, "d:2", "1-0")
    query = Query(base_url, **choice)
    lossy = Query(base_url, failOnDataLoss="false", **choice)
    assert streams_in(query) == streams_in(lossy) == {"d:1": ["1-0"], "d:2": ["1-0"]}
    drop(base_url, "d:2")
    with pytest.raises(DataLoss, match=r"stream 'd:2' at http.*: the stream was deleted"):
        query.plan()
    kept = {"d:1"} if "streamPattern" in choice else {"d:1", "d:2"}
    assert set(lossy.plan()["streams"]) == kept
    add(base_url, "d:2", "7-0")
    add(base_url, "d:1", "2-0")
    assert streams_in(lossy) == {"d:1": ["2-0"], "d:2": ["7-0"]}
    for name in ("d:1", "d:2"):
        drop(base_url, name)


def test_a_listed_stream_that_never_existed_is_an_error_that_names_it(base_url: str) -> None:
    add(base_url, "m:1", "1-0")
    with pytest.raises(SourceError, match=r"stream 'm:2' at http.*: there is no such stream"):
        Query(base_url, streams="m:1,m:2").plan()


def test_available_now_ends_at_what_was_there_in_every_stream(base_url: str) -> None:
    add(base_url, "w:1", "1-0", "2-0")
    query = Query(base_url, streamPattern="w:.", maxEntriesPerTrigger=1)
    query.reader.prepareForTriggerAvailableNow()
    add(base_url, "w:1", "3-0")
    add(base_url, "w:2", "1-0")
    assert [query.ids(), query.ids(), query.ids()] == [["1-0"], ["2-0"], []]
    assert query.plan() == query.offset


def test_an_earlier_release_had_one_stream(base_url: str) -> None:
    with pytest.raises(SourceError, match="start the query once with the option 'stream'"):
        Query(base_url, offset={"id": "5-0"}, streams="a,b").plan()


def test_a_query_waits_for_the_first_entry_of_any_stream(base_url: str) -> None:
    """The server answers as soon as there is one; with a time limit of a minute this test would time out."""
    add(base_url, "q:1", "1-0")
    add(base_url, "q:2", "1-0")
    query = Query(base_url, streams="q:1,q:2", pollTimeoutMs=60_000)
    assert query.ids() == ["1-0", "1-0"]
    with Tailrace(base_url) as tailrace:
        waiting = Thread(target=lambda: add(base_url, "q:2", "2-0"))
        waiting.start()
        assert streams_in(query) == {"q:2": ["2-0"]}
        waiting.join()
        assert tailrace.stream("q:2").length() == 2


def test_the_group_moves_in_each_stream(base_url: str) -> None:
    add(base_url, "g:1", "1-0", "2-0")
    add(base_url, "g:2", "1-0")
    query = Query(base_url, streams="g:1,g:2", group="spark")
    query.step()
    query.plan()
    with Tailrace(base_url) as tailrace:
        groups = [tailrace.stream(name).group("spark").info() for name in ("g:1", "g:2")]
    assert [(group.entries_read, group.lag) for group in groups] == [(2, 0), (1, 0)]


@pytest.mark.parametrize("streams_per_page", [1, 2, 10_000])
def test_names_that_are_not_utf_8_match_no_pattern_and_end_no_list(
    base_url: str, streams_per_page: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "STREAMS_PER_PAGE", streams_per_page)
    for name in ("u:a", "u:%80", "u:%80b", "u:%C3%BC"):
        httpx.post(f"{base_url}/v1/streams/{name}/entries", json={"fields": {"n": "1"}}).raise_for_status()
    assert set(streams_in(Query(base_url, streamPattern="u:.*"))) == {"u:a", "u:ü"}


# --- parts that several streams share ------------------------------------------------------------------


def test_streams_with_few_entries_share_a_part_that_a_replay_reads_again(base_url: str) -> None:
    names = [f"pack:{number}" for number in range(5)]
    for name in names:
        add(base_url, name, "1-0", "2-0")
    query = Query(base_url, streamPattern="pack:.*")
    end = query.plan()
    assert parts_in(query, end) == [[(name, f"{ms}-0") for name in names for ms in (1, 2)]]
    delete(base_url, "pack:1", "1-0", "2-0")
    delete(base_url, "pack:3", "2-0")
    add(base_url, "pack:4", "3-0")
    replay = Query(base_url, offset=query.offset, streamPattern="pack:.*", minPartitions=5)
    (part,) = parts_in(replay, end)
    left = {"pack:0": (1, 2), "pack:2": (1, 2), "pack:3": (1,), "pack:4": (1, 2)}
    assert part == [(name, f"{ms}-0") for name, numbers in left.items() for ms in numbers]
    query.offset = end
    assert parts_in(query, query.plan()) == [[("pack:4", "3-0")]]


@pytest.mark.parametrize("lost", ["deleted", "deleted and created again"])
def test_a_stream_of_a_shared_part_that_is_gone_before_its_task_is_data_loss_in_that_stream(
    base_url: str, lost: str
) -> None:
    for name in ("share:1", "share:2", "share:3"):
        add(base_url, name, "1-0")
    strict, lossy = (
        Query(base_url, streamPattern="share:.", failOnDataLoss=fails) for fails in ("true", "false")
    )
    ((strict_part,), (lossy_part,)) = (
        each.reader.partitions(each.offset, each.plan()) for each in (strict, lossy)
    )
    drop(base_url, "share:2")
    if lost != "deleted":
        add(base_url, "share:2", "1-0")
    with pytest.raises(DataLoss, match=f"stream 'share:2' at http.*: the stream was {lost}"):
        list(strict.reader.read(strict_part))
    assert list(rows_in(lossy.reader.read(lossy_part))) == [("share:1", "1-0"), ("share:3", "1-0")]
    for name in ("share:1", "share:2", "share:3"):
        drop_if_there(base_url, name)


def drop_if_there(url: str, stream: str) -> None:
    httpx.delete(f"{url}/v1/streams/{stream}")


def test_parts_are_shared_only_so_far_that_as_many_remain_as_the_options_demand(base_url: str) -> None:
    for number in range(6):
        add(base_url, f"least:{number}", "1-0")
    for least, sizes in ((1, [6]), (2, [3, 3]), (3, [2, 2, 2]), (4, [1] * 6), (6, [1] * 6)):
        _, parts = batch_parts(base_url, streamPattern="least:.", minPartitions=least)
        assert [len(part.ranges) for part in parts if isinstance(part, Part)] == sizes


def test_a_pack_has_a_bounded_number_of_entries_and_streams() -> None:
    counts = {"a": 3, "b": 9, "c": 3, "d": 3, "e": 11}
    assert packs_of(counts, 9, 9) == {"a": 0, "c": 0, "d": 0}
    assert packs_of(counts, 12, 9) == {"a": 0, "c": 0, "d": 0}
    assert packs_of({**counts, "f": 9}, 18, 9) == {"a": 0, "b": 0, "c": 0, "d": 0}
    assert packs_of(dict.fromkeys("abcde", 1), 9, 2) == {"a": 0, "b": 0, "c": 1, "d": 1}
    assert packs_of({}, 9, 2) == {}


def test_a_batch_read_of_small_streams_costs_two_requests_for_each_and_one_for_all(base_url: str) -> None:
    """The look on the driver and the export in the task; and the check of the task."""
    names = [f"cost:{number}" for number in range(5)]
    for name in names:
        add(base_url, name, "1-0", "2-0")
    port = urlsplit(base_url).port
    assert port
    with faulty_proxy(port, lambda _: Fault.NONE) as proxy:
        reader, (part,) = batch_parts(proxy.url, streams=",".join(names))
        assert len(list(rows_in(reader.read(part)))) == 10
        assert proxy.fired[Fault.NONE] == 2 * len(names) + 1
