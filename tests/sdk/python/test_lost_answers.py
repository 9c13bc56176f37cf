"""Lost responses: the server has executed the request, and the connection breaks before the response."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tailrace_client import NO_RETRIES, Stream, Tailrace, TailraceError
from tests.support.cutting_proxy import CuttingProxy


@pytest.fixture
def cut_stream(cut_tailrace: Tailrace, key: str) -> Stream:
    """The stream of the test, over connections that can be cut."""
    return cut_tailrace.stream(key)


def test_without_a_key_a_lost_append_is_an_error_of_unknown_outcome_and_not_sent_again(
    stream: Stream, cut_stream: Stream, proxy: CuttingProxy
) -> None:
    proxy.cut_after(0)
    with pytest.raises(TailraceError) as lost:
        cut_stream.append({"a": "1"})
    assert (lost.value.code, lost.value.side_effects, lost.value.retryable) == (
        "ANSWER_LOST",
        "unknown",
        True,
    )
    assert proxy.cuts == 1
    assert stream.length() == 1  # it had been carried out


def test_with_a_key_a_lost_append_is_sent_again_and_doubles_nothing(
    stream: Stream, cut_stream: Stream, proxy: CuttingProxy
) -> None:
    proxy.cut_after(0, 0, 20)
    entry_id = cut_stream.append({"a": "1"}, idempotency_key="1")
    assert proxy.cuts == 3
    assert [each for each, _ in stream.read()] == [entry_id]


def test_lost_answers_to_append_many_double_nothing(
    stream: Stream, cut_stream: Stream, proxy: CuttingProxy
) -> None:
    proxy.cut_after(0, 300, 0, 500, 10)
    assert cut_stream.append_many(({"n": str(n)} for n in range(1_000)), chunk=100) == 1_000
    assert proxy.cuts == 5
    assert [fields["n"] for _, fields in stream.read()] == [str(n) for n in range(1_000)]


def test_without_a_key_a_lost_import_is_of_unknown_outcome_and_with_one_it_is_replayed(
    stream: Stream, cut_stream: Stream, proxy: CuttingProxy
) -> None:
    proxy.cut_after(0)
    with pytest.raises(TailraceError) as lost:
        cut_stream.import_lines(b'{"a":"1"}\n')
    assert lost.value.side_effects == "unknown"
    proxy.cut_after(0)
    assert cut_stream.import_lines(b'{"a":"2"}\n', idempotency_key="1").replayed
    assert [fields["a"] for _, fields in stream.read()] == ["1", "2"]
    assert proxy.cuts == 2


def test_who_wants_no_retries_is_told_of_the_first_loss(proxy: CuttingProxy, key: str) -> None:
    with Tailrace(proxy.url, retry=NO_RETRIES) as client:
        proxy.cut_after(0)
        with pytest.raises(TailraceError):
            client.stream(key).append({"a": "1"}, idempotency_key="1")
    assert proxy.cuts == 1


def test_a_read_that_is_cut_goes_on_where_it_was(
    stream: Stream, cut_stream: Stream, proxy: CuttingProxy
) -> None:
    expected = [{"n": f"{n:040}"} for n in range(20_000)]
    stream.append_many(expected)
    proxy.cut_after(0, 100, 700_000, 10, 600_000)
    assert [fields for _, fields in cut_stream.read()] == expected
    assert proxy.cuts == 5


def test_an_export_without_ids_resumes_only_before_its_first_block(
    stream: Stream, cut_stream: Stream, proxy: CuttingProxy
) -> None:
    stream.append_many({"n": f"{n:040}"} for n in range(20_000))
    proxy.cut_after(100)
    assert b"".join(cut_stream.export_lines(shape="fields")).count(b"\n") == 20_000
    proxy.cut_after(700_000)
    with pytest.raises(TailraceError) as lost:
        list(cut_stream.export_lines(shape="fields"))
    assert lost.value.code == "ANSWER_LOST"
    assert proxy.cuts == 2


def test_a_lost_ack_is_sent_again_and_a_lost_group_read_is_told(
    stream: Stream, cut_stream: Stream, proxy: CuttingProxy
) -> None:
    entry_id = stream.append({"a": "1"})
    stream.group("g").create("0")
    proxy.cut_after(0)
    with pytest.raises(TailraceError) as lost:
        cut_stream.group("g").read("alice")
    assert lost.value.side_effects == "unknown"
    [mine] = cut_stream.group("g").read("alice", id="0")
    assert (mine.id, mine.deliveries) == (entry_id, 1)
    proxy.cut_after(0)
    assert cut_stream.group("g").ack(entry_id) == 0  # the second one's count
    assert stream.group("g").pending_summary().count == 0
    assert proxy.cuts == 2


def test_a_lost_trim_is_sent_again_only_where_it_removes_nothing_that_was_appended_meanwhile(
    stream: Stream, cut_stream: Stream, proxy: CuttingProxy
) -> None:
    ids = [stream.append({"n": str(n)}) for n in range(3)]
    proxy.cut_after(0)
    assert cut_stream.trim(min_id=ids[1]) == 0  # the second one's count
    proxy.cut_after(0)
    with pytest.raises(TailraceError) as lost:
        cut_stream.trim(max_length=0)
    assert lost.value.side_effects == "unknown"
    assert proxy.cuts == 2
    assert stream.length() == 0  # it had been carried out


@pytest.mark.parametrize(
    "delete",
    [
        lambda stream: stream.delete(),
        lambda stream: stream.group("g").destroy(),
        lambda stream: stream.group("g").set_position("$"),
        lambda stream: stream.group("g").delete_consumer("alice", force=True),
        lambda stream: stream.set_id("9-9"),
    ],
    ids=["drop", "destroy", "set_position", "delete_consumer", "set_id"],
)
def test_what_would_undo_what_others_did_meanwhile_is_not_sent_again(
    stream: Stream, cut_stream: Stream, proxy: CuttingProxy, delete: Callable[[Stream], object]
) -> None:
    stream.append({"a": "1"}, id="1-1")
    stream.group("g").create("0")
    stream.group("g").create_consumer("alice")
    proxy.cut_after(0)
    with pytest.raises(TailraceError) as lost:
        delete(cut_stream)
    assert (lost.value.side_effects, proxy.cuts) == ("unknown", 1)


def test_a_server_that_is_not_there_is_told_as_such() -> None:
    with (
        Tailrace("http://127.0.0.1:1", retry=NO_RETRIES) as client,
        pytest.raises(TailraceError) as refused,
    ):
        client.stream("s").append({"a": "1"})
    assert (refused.value.code, refused.value.side_effects) == ("NOT_CONNECTED", "none")
