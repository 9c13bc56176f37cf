"""The states of streams on their way between two processes."""

from __future__ import annotations

import pytest

from tailrace.core.engine import Engine
from tailrace.core.parser import parse_request
from tailrace.core.storage.draft import Incomplete, StreamRows, passage_of, rows_of, stream_rows


def rows() -> list[StreamRows]:
    """The states of two streams, one of which has a group with a pending entry."""
    engine = Engine()
    for line in (
        "XADD a 1-1 f v",
        "XADD b 1-1 f v",
        "XGROUP CREATE a g 0",
        "XREADGROUP GROUP g c STREAMS a >",
    ):
        command = parse_request([word.encode() for word in line.split()]).command
        assert command is not None
        engine.execute(command, 1_700_000_000_000)
    return list(stream_rows(engine.keyspace, [b"a", b"none", b"b"]))


def test_the_states_arrive_as_they_were() -> None:
    sent = rows()
    assert len(sent) == 2
    assert rows_of(memoryview(b"".join(passage_of(sent)))) == sent
    assert rows_of(memoryview(b"".join(passage_of([])))) == []


@pytest.mark.parametrize("change", ["shortened", "altered", "empty"])
def test_a_passage_that_is_not_whole_is_refused(change: str) -> None:
    passage = bytearray(b"".join(passage_of(rows())))
    if change == "shortened":
        del passage[-10:]
    elif change == "altered":
        passage[20] ^= 1
    else:
        passage.clear()
    with pytest.raises(Incomplete, match="their checksum does not match"):
        rows_of(memoryview(passage))
