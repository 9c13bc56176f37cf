"""The text of Server-Sent Events, and the ids with which several streams resume."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailrace.api.follow import sse
from tailrace.core.errors import ErrorCode, StreamError
from tests.support.sse_client import Event, parse_events

names = st.binary(min_size=1, max_size=12)
ids = st.integers(0, (1 << 128) - 1)


def test_an_opening_sets_the_retry_time_and_the_position_where_there_is_one() -> None:
    assert parse_events(sse.opening([], "5-1").decode()) == [Event("entries", "5-1", [], retry_ms=2000)]
    assert parse_events(sse.opening([], "").decode()) == [Event("entries", None, [], retry_ms=2000)]


def test_raw_parts_of_an_event_are_written_as_they_are() -> None:
    text = sse.event("entries", {"key": "s", "entries": msgspec.Raw(b'[{"id":"1-0"}]')}, "1-0").decode()
    assert text == 'event: entries\nid: 1-0\ndata: {"key":"s","entries":[{"id":"1-0"}]}\n\n'


def test_a_comment_is_one_line_and_ends_no_block() -> None:
    (block,) = parse_events(sse.COMMENT.decode())
    assert (block.name, block.data, block.id) == ("", None, None)
    assert sse.COMMENT.decode().splitlines() == [":"]


@given(st.dictionaries(st.text(), st.text()))
def test_an_event_has_three_lines_to_every_way_of_splitting_whatever_it_carries(
    content: dict[str, str],
) -> None:
    try:
        text = sse.event("entries", content, "1-0").decode()
    except UnicodeEncodeError:
        return  # a lone surrogate: nothing that a store could hold
    assert len(text.splitlines()) == 4
    assert parse_events(text) == [Event("entries", "1-0", content)]


@given(st.dictionaries(names, ids, min_size=1, max_size=5), st.none() | st.text(min_size=1))
def test_a_composite_id_is_one_ascii_line_and_says_all_positions(
    positions: dict[bytes, int], incarnation: str | None
) -> None:
    text = sse.composite_id(positions, dict.fromkeys(positions, incarnation))
    assert text.isascii()
    assert text.isprintable()
    known = sse.mark_of(incarnation)
    assert list(sse.parse_composite_id(text).items()) == [(key, (at, known)) for key, at in positions.items()]


@pytest.mark.parametrize(
    "text", ["", "a", "a=", "a=x", "a=1-0&", "a=1-0&&b=1-0", "1-0", "a=1-0=2", "a=1-0~", "a=1-0~x"]
)
def test_a_composite_id_that_no_tail_wrote_is_refused(text: str) -> None:
    with pytest.raises(StreamError) as refused:
        sse.parse_composite_id(text)
    assert refused.value.code is ErrorCode.INVALID_ID
