"""Tails: entries as they arrive, through broken connections, gaps and restarts of the server."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from itertools import islice

import pytest

from tailrace_client import NO_RETRIES, AsyncTailrace, Entry, Gap, Stream, Tailrace, TailraceError
from tailrace_client.blocking.following import Following
from tailrace_client.tail import Tail
from tests.support.cutting_proxy import CuttingProxy


def texts(entries: Iterator[Entry], count: int) -> list[str]:
    return [fields["n"] for _, fields in islice(entries, count)]


def test_a_tail_gives_what_is_there_and_what_comes(stream: Stream) -> None:
    stream.append_many({"n": str(n)} for n in range(3))
    tail = stream.tail("0")
    assert texts(tail, 3) == ["0", "1", "2"]
    stream.append({"n": "3"})
    stream.append([("n", "4"), ("n", "5")])
    assert texts(tail, 2) == ["3", "5"]


def test_a_tail_is_open_when_the_call_returns(stream: Stream, tailrace: Tailrace) -> None:
    stream.append({"n": "0"})
    with stream.tail() as tail, tailrace.tail([stream.key]) as tail_of_several:
        stream.append({"n": "1"})
        assert texts(tail, 1) == ["1"]
        assert next(tail_of_several).fields == {"n": "1"}
    assert list(tail) == []


def test_an_asyncio_tail_is_open_in_its_context(base_url: str, key: str) -> None:
    async def program() -> None:
        async with AsyncTailrace(base_url) as tailrace:
            stream = tailrace.stream(key)
            await stream.append({"n": "0"})
            async with stream.tail() as tail, tailrace.tail([key]) as tail_of_several:
                await stream.append({"n": "1"})
                assert (await anext(tail))[1] == {"n": "1"}
                assert (await anext(tail_of_several)).fields == {"n": "1"}

    asyncio.run(asyncio.wait_for(program(), 60))


def test_a_tail_goes_on_through_cuts_and_nothing_is_lost_or_doubled(
    stream: Stream, cut_tailrace: Tailrace, proxy: CuttingProxy
) -> None:
    stream.append_many({"n": str(n)} for n in range(5_000))
    proxy.cut_after(0, 5, 50_000, 10, 70_000, 300)
    tail = cut_tailrace.stream(stream.key).tail("0")
    assert texts(tail, 5_000) == [str(n) for n in range(5_000)]
    assert proxy.cuts == 6


def test_a_tail_from_now_on_has_no_holes_after_cuts(
    stream: Stream, cut_tailrace: Tailrace, proxy: CuttingProxy
) -> None:
    proxy.cut_after(2_000, 900, 3_000)
    tail = cut_tailrace.stream(stream.key).tail()
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.extend(texts(tail, 200)))
    reader.start()
    appended = 0
    while reader.is_alive():
        stream.append({"n": str(appended)})
        appended += 1
    assert got == [str(n) for n in range(int(got[0]), int(got[0]) + 200)]
    assert proxy.cuts == 3


def test_a_gap_is_told_before_what_is_left(stream: Stream) -> None:
    stream.append_many({"n": str(n)} for n in range(5))
    ids = [entry_id for entry_id, _ in stream.read()]
    stream.trim(max_length=2)
    gaps: list[Gap] = []
    assert texts(stream.tail(ids[0], on_gap=gaps.append), 2) == ["3", "4"]
    assert gaps == [Gap(stream.key, ids[0], ids[3])]


def test_a_gap_is_logged_unless_the_program_takes_it(
    stream: Stream, caplog: pytest.LogCaptureFixture
) -> None:
    stream.append_many({"n": str(n)} for n in range(3))
    ids = [entry_id for entry_id, _ in stream.read()]
    stream.trim(max_length=1)
    assert texts(stream.tail(ids[0]), 1) == ["2"]
    assert f"entries after {ids[0]} and before {ids[2]} were trimmed before" in caplog.text


def test_a_position_that_is_none_is_refused_at_once(stream: Stream) -> None:
    with pytest.raises(TailraceError) as refused:
        next(stream.tail("yesterday"))
    assert refused.value.code == "INVALID_ID"


def test_an_end_that_cannot_pass_goes_up(proxy: CuttingProxy, key: str) -> None:
    with Tailrace(proxy.url, retry=NO_RETRIES) as client:
        proxy.cut_after(0)
        with pytest.raises(TailraceError) as lost:
            next(client.stream(key).tail("0"))
    assert lost.value.code == "ANSWER_LOST"


def test_events_are_taken_whole_in_whatever_pieces_they_arrive() -> None:
    text = (
        b"retry: 2000\nevent: entries\nid: 0-5\ndata: []\n\n:\nevent: entries\nid: 1-1\n"
        b'data: [{"id":"1-0","fields":{"a":"b"}},{"id":"1-1","fields":{"a":"c"}}]\n\n'
    )
    for size in (1, 7, len(text)):
        tail = Tail("s", "$", lambda _gap: None)
        assert list(tail.take(text[:45])) == []
        assert tail.request["headers"]["Last-Event-ID"] == "0-5"
        pieces = [text[start : start + size] for start in range(0, len(text), size)]
        assert [entry for piece in pieces for entry in tail.take(piece)] == [
            ("1-0", {"a": "b"}),
            ("1-1", {"a": "c"}),
        ]
        assert tail.request["headers"]["Last-Event-ID"] == "1-1"


def test_the_servers_last_word_on_a_tail_is_an_error_that_changed_nothing() -> None:
    tail = Tail("s", "$", lambda _gap: None)
    problem = (
        b'{"code":"NOT_ACCEPTING","detail":"draining","status":503,"retryable":true,"side_effects":"unknown"}'
    )
    with pytest.raises(TailraceError) as ended:
        list(tail.take(b"event: end\ndata: " + problem + b"\n\n"))
    assert (ended.value.retryable, ended.value.side_effects) == (True, "none")


@pytest.mark.parametrize("exists", [True, False])
def test_a_tail_that_comes_back_to_a_stream_that_was_created_again_yields_all_of_it(
    stream: Stream, *, exists: bool
) -> None:
    if exists:
        stream.append({"n": "0"}, id="9-0")
    gaps: list[Gap] = []
    tail = Tail(stream.key, "0", gaps.append)
    session = stream._session
    with session.stream(tail.request, session.settings.silence(10), tail.opened) as chunks:
        if not exists:
            assert not list(tail.take(next(chunks)))
            stream.append({"n": "0"}, id="9-0")
        assert next(entry[0] for chunk in chunks for entry in tail.take(chunk)) == "9-0"
    stream.delete()
    for entry_id in ("1-0", "20-0"):
        stream.append({"n": "1"}, id=entry_id)
    assert [entry[0] for entry in islice(Following(session, tail), 2)] == ["1-0", "20-0"]
    assert gaps == [Gap(stream.key, "9-0", "1-0")]


def test_a_tail_from_a_position_that_its_stream_has_not_reached_opens_at_once(stream: Stream) -> None:
    stream.append({"n": "0"}, id="1-0")
    tail = stream.tail("5-0")
    for entry_id in ("4-0", "6-0"):
        stream.append({"n": entry_id}, id=entry_id)
    assert texts(tail, 1) == ["6-0"]
