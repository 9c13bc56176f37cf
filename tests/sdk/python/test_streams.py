"""A stream through the client: append, read, trim, and plan parallel reads."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tailrace_client import BadFieldError, ExactFields, Stream, Tailrace, TailraceError, Trim
from tailrace_client.chunks import BodyThen, calls_of
from tailrace_client.errors import error_of_problem
from tailrace_client.generated.api.streams import xlen


def numbers(count: int) -> list[dict[str, str]]:
    return [{"n": str(number)} for number in range(count)]


def test_an_appended_entry_is_read_with_its_id_and_fields_in_order(stream: Stream) -> None:
    entry_id = stream.append({"rider": "Castilla", "speed": "30.2", "position": "1"})
    assert list(stream.read()) == [(entry_id, {"rider": "Castilla", "speed": "30.2", "position": "1"})]
    assert list(dict(stream.read())[entry_id]) == ["rider", "speed", "position"]


def test_append_many_appends_all_in_order_whatever_the_chunk(stream: Stream) -> None:
    assert stream.append_many(iter(numbers(2_500)), chunk=1_000) == 2_500
    assert stream.append_many(numbers(3), chunk=1) == 3
    assert [fields["n"] for _, fields in stream.read()] == [str(n) for n in (*range(2_500), *range(3))]


def test_append_many_of_nothing_appends_nothing(stream: Stream) -> None:
    assert stream.append_many([]) == 0
    assert list(stream.read()) == []


def test_append_many_closes_the_entries_when_it_ends_early() -> None:
    closed: list[bool] = []

    def entries() -> Iterator[dict[str, str]]:
        try:
            yield from numbers(100)
        finally:
            closed.append(True)

    calls = calls_of(entries(), 10, lambda lines, _producer, make_next: BodyThen(lines.body, make_next))
    assert list(next(calls)) != []  # as when the body is sent: the next call is made
    del calls
    assert closed == [True]


def test_a_chunk_of_no_entries_is_refused(stream: Stream) -> None:
    with pytest.raises(ValueError, match="chunk=0"):
        stream.append_many(numbers(1), chunk=0)


def test_a_range_is_bounded_by_ids_by_times_and_by_a_count(stream: Stream) -> None:
    for ms in (10, 10, 20, 30):
        stream.append({"ms": str(ms)}, id=f"{ms}-*")
    assert [entry_id for entry_id, _ in stream.read("10-1", "20")] == ["10-1", "20-0"]
    assert [entry_id for entry_id, _ in stream.read("(10-1", "(30-0")] == ["20-0"]
    assert [entry_id for entry_id, _ in stream.read("10", "10")] == ["10-0", "10-1"]
    assert [entry_id for entry_id, _ in stream.read(count=3)] == ["10-0", "10-1", "20-0"]
    assert [entry_id for entry_id, _ in stream.read("10-1", count=2)] == ["10-1", "20-0"]
    assert [entry_id for entry_id, _ in stream.read(end="(20-0", count=3)] == ["10-0", "10-1"]
    assert [entry_id for entry_id, _ in stream.read("40", count=3)] == []


def test_reading_a_missing_stream_gives_nothing(stream: Stream) -> None:
    assert list(stream.read()) == []
    assert list(stream.read(count=5)) == []


def test_a_missing_stream_is_counted_and_planned_as_an_empty_one(stream: Stream) -> None:
    assert stream.length() == 0
    assert stream.split(2).count == 0
    assert stream.seek(2).end is None
    assert b"".join(stream.export_lines()) == b""


def test_an_error_names_the_stream_the_group_and_the_consumer(stream: Stream) -> None:
    with pytest.raises(TailraceError) as refused:
        stream.info()
    assert (refused.value.code, refused.value.key, refused.value.group) == (
        "NO_SUCH_STREAM",
        stream.key,
        None,
    )
    stream.create()
    stream.group("g").create()
    with pytest.raises(TailraceError) as refused:
        stream.group("g").delete_consumer("nobody")
    error = refused.value
    assert (error.code, error.key, error.group, error.consumer) == (
        "NO_SUCH_CONSUMER",
        stream.key,
        "g",
        "nobody",
    )


def test_a_name_that_is_not_utf8_is_bytes_in_an_error() -> None:
    problem = {"code": "NOGROUP", "detail": "", "key": "/w==", "group": "Zw==", "encoding": "base64"}
    error = error_of_problem(problem)
    assert (error.key, error.group, error.consumer, error.id) == (b"\xff", b"g", None, None)


def test_repeated_names_and_bytes_come_back_as_they_were(stream: Stream) -> None:
    repeated = [("k", "1"), ("k", "2")]
    binary = {"name": b"\xff\x00", b"\xfe": "text"}
    stream.append(repeated)
    stream.append_many([{"plain": "ä"}, repeated, binary])  # type: ignore[list-item]
    [first, plain, second, third] = [fields for _, fields in stream.read()]
    assert isinstance(first, ExactFields)
    assert first == second == {"k": "2"}
    assert first.pairs == ((b"k", b"1"), (b"k", b"2"))
    assert plain == {"plain": "ä"}
    assert isinstance(third, ExactFields)
    assert third.pairs == ((b"name", b"\xff\x00"), (b"\xfe", b"text"))
    assert third["name"].encode("utf-8", "surrogateescape") == b"\xff\x00"


def test_what_is_read_can_be_appended_and_stays_the_same(stream: Stream, tailrace: Tailrace) -> None:
    copy = tailrace.stream(f"{stream.key}:copy")
    stream.append_many([{"a": "1"}, [("k", "1"), ("k", "2")], {"b": b"\xff"}, {"c": "\udc80"}])
    copy.append_many(fields for _, fields in stream.read())
    originals, copies = (
        [getattr(fields, "pairs", fields) for _, fields in each.read()] for each in (stream, copy)
    )
    assert originals == copies
    assert len(copies) == 4


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"speed": 30.2}, "the value of 'speed' is of type float; it must be str or bytes"),
        ({"speed": None}, "the value of 'speed' is of type NoneType"),
        ({1: "a"}, "the name 1 is of type int"),
        ({}, "the entry has no fields"),
        ("ab", "the entry 'ab' is of type str; it must be a mapping of names to values, or pairs"),
        (None, "the entry None is of type NoneType; it must be a mapping"),
        (["ab", "cd"], "'ab' is not a pair of a name and a value"),
        ([("a", "b", "c")], r"\('a', 'b', 'c'\) is not a pair of a name and a value"),
    ],
)
def test_fields_that_are_no_text_are_refused_before_anything_is_sent(
    stream: Stream, fields: dict[str, str], told: str
) -> None:
    with pytest.raises(BadFieldError, match=told):
        stream.append(fields)
    with pytest.raises(TailraceError, match=f"INVALID_ARGUMENT: entry 1 of the chunk: {told}") as refused:
        stream.append_many([*numbers(3), {"a": "b"}, fields], chunk=3)
    assert refused.value.__notes__ == ["append_many appended 3 entries before this error"]
    assert stream.length() == 3


def test_one_entry_in_place_of_many_is_refused(stream: Stream) -> None:
    with pytest.raises(BadFieldError, match="the entry 'id' is of type str; it must be a mapping"):
        stream.append_many({"id": "5"})  # type: ignore[dict-item]
    assert stream.length() == 0


def test_an_error_of_the_programs_own_iterable_goes_up_and_what_came_before_stays(stream: Stream) -> None:
    def entries() -> object:
        yield from numbers(5)
        raise LookupError("the file ended in the middle of a line")

    with pytest.raises(LookupError, match="the file ended"):
        stream.append_many(entries(), chunk=2)  # type: ignore[arg-type]
    assert stream.length() == 4


def test_a_refusal_says_what_and_where_and_how_to_go_on(stream: Stream) -> None:
    stream.append({"a": "b"}, id="5-1")
    with pytest.raises(TailraceError) as refused:
        stream.append({"a": "b"}, id="5-1")
    error = refused.value
    assert (error.status, error.code, error.retryable, error.side_effects) == (
        409,
        "ID_NOT_GREATER",
        False,
        "none",
    )
    assert error.last_id == "5-1"
    assert error.request_id
    assert error.detail in str(error)
    with pytest.raises(TailraceError) as refused:
        stream.import_lines(b'{"a":"b"}\n{"a":1}\n')
    assert refused.value.errors[0]["line"] == 2
    assert stream.length() == 1


def test_conditions_of_an_append_hold(stream: Stream) -> None:
    with pytest.raises(TailraceError) as refused:
        stream.append({"a": "b"}, create=False)
    assert refused.value.code == "NO_SUCH_STREAM"
    first = stream.append({"a": "b"}, if_last_id="0-0")
    with pytest.raises(TailraceError) as refused:
        stream.append({"a": "b"}, if_last_id="0-0")
    assert (refused.value.status, refused.value.last_id) == (412, first)
    stream.append({"a": "b"}, trim=Trim(max_length=1))
    assert stream.length() == 1


def test_a_key_appends_once_and_is_the_producers_own(stream: Stream) -> None:
    first = stream.append({"a": "b"}, idempotency_key="1")
    assert stream.append({"a": "b"}, idempotency_key="1") == first
    assert stream.append({"a": "b"}, idempotency_key="1", producer_id="another") != first
    with pytest.raises(ValueError, match="need an idempotency_key"):
        stream.append({"a": "b"}, producer_id="another")
    assert stream.length() == 2


def test_lines_are_imported_under_an_epoch_and_replayed(stream: Stream) -> None:
    def send(epoch: int, layout: str = "2") -> tuple[int, bool]:
        made = stream.import_lines(
            b'{"a":"1"}\n{"a":"2"}\n',
            producer_id="query",
            producer_epoch=epoch,
            producer_layout=layout,
            idempotency_key="0/0",
        )
        return made.count, made.replayed

    assert send(1) == (2, False)
    assert send(1) == (2, True)
    with pytest.raises(TailraceError) as refused:
        send(1, layout="3")
    assert refused.value.code == "LAYOUT_CHANGED"
    assert send(2) == (2, False)
    assert send(3) == (2, False)
    with pytest.raises(TailraceError) as refused:
        send(1)
    assert refused.value.code == "STALE_EPOCH"


def test_an_export_gives_whole_lines_that_an_import_takes(stream: Stream, tailrace: Tailrace) -> None:
    stream.append_many(numbers(40_000))
    blocks = list(stream.export_lines(shape="fields"))
    assert len(blocks) > 1
    assert all(block.endswith(b"\n") for block in blocks)
    copy = tailrace.stream(f"{stream.key}:copy")
    for number, block in enumerate(blocks):
        copy.import_lines(block, idempotency_key=str(number))
    assert [fields for _, fields in copy.read()] == numbers(40_000)


def test_an_export_can_choose_fields(stream: Stream) -> None:
    stream.append({"rider": "Castilla", "speed": "30.2", "position": "1"})
    [block] = stream.export_lines(fields=["speed", "rider"])
    assert block.endswith(b'"fields":{"speed":"30.2","rider":"Castilla"}}\n')


def test_streams_are_trimmed_cut_up_planned_and_dropped(stream: Stream) -> None:
    stream.append_many(numbers(1_000))
    ids = [entry_id for entry_id, _ in stream.read()]
    assert stream.delete_entries(ids[0], "1-1").deleted == 1
    assert stream.trim(max_length=900) == 99
    assert stream.trim(min_id=ids[200]) == 100
    plan = stream.split(4)
    assert (plan.count, sum(part.count for part in plan.parts)) == (800, 800)
    assert stream.seek(100).end == ids[299]
    assert stream.info().length == 800
    stream.delete()
    stream.create()
    assert stream.length() == 0


def test_generated_operations_run_over_the_same_client(stream: Stream, tailrace: Tailrace) -> None:
    stream.append({"a": "b"})
    assert xlen.sync(key=stream.key, client=tailrace.generated) == {"length": 1}


@pytest.mark.parametrize("dots", [".", ".."])
def test_names_of_dots_are_names_and_no_way_to_another_resource(
    stream: Stream, tailrace: Tailrace, dots: str
) -> None:
    stream.append({"n": "1"})
    group = stream.group(dots)
    group.create("0")
    assert group.info().name == dots
    [delivery] = group.read(dots)
    assert [consumer.name for consumer in group.consumers()] == [dots]
    assert group.ack(delivery.id) == 1
    assert group.delete_consumer(dots) == 0
    group.destroy()
    assert stream.length() == 1, "the group was deleted, and not its stream"
    named = tailrace.stream(dots)
    named.append({"n": "2"}, id="1-0")
    assert list(named.read()) == [("1-0", {"n": "2"})]
    assert b"".join(named.export_lines()) == b'{"id":"1-0","fields":{"n":"2"}}\n'
    assert xlen.sync(key=dots, client=tailrace.generated) == {"length": 1}
    named.delete()
    assert stream.length() == 1


# --- filters -----------------------------------------------------------------------------------------


def test_every_read_takes_a_filter(stream: Stream) -> None:
    stream.append_many(numbers(30))
    wanted = 'int(fields.n) >= 27 || fields.n == "3"'
    assert [fields["n"] for _, fields in stream.read(filter=wanted)] == ["3", "27", "28", "29"]
    assert [fields["n"] for _, fields in stream.read(filter=wanted, count=2)] == ["3", "27"]
    assert [fields["n"] for _, fields in stream.read_reverse(filter=wanted, count=2)] == ["29", "28"]
    page = stream.read_after("0", filter=wanted)
    assert [fields["n"] for _, fields in page.entries] == ["3", "27", "28", "29"]
    lines = b"".join(stream.export_lines(filter=wanted, shape="fields"))
    assert lines.count(b"\n") == 4
    tail = stream.tail("0", filter=wanted)
    assert [next(tail)[1]["n"] for _ in range(4)] == ["3", "27", "28", "29"]


def test_a_bad_filter_is_an_error_with_its_place(stream: Stream) -> None:
    with pytest.raises(TailraceError, match="at character 10") as caught:
        list(stream.read(filter="fields.n = 1"))
    assert caught.value.code == "INVALID_FILTER"
