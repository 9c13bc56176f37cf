"""Removing pending entries by spans of ids that have all been acknowledged changes nothing."""

from __future__ import annotations

import pytest

from tailrace.core.invariants import check
from tailrace.core.pending.id_spans import IdSpans
from tailrace.core.stream_id import make_id
from tests.support.redis_like import R


@pytest.mark.parametrize("spans", [[(4, 6)], [(4, 4), (6, 6)]], ids=["one span", "several"])
def test_a_span_of_acknowledged_entries_within_a_run_leaves_the_others_pending(
    spans: list[tuple[int, int]],
) -> None:
    r = R()
    for number in range(1, 11):
        r.run("XADD", "s", f"{number}-0", "f", "v")
    r.run("XGROUP", "CREATE", "s", "g", "0")
    r.run("XREADGROUP", "GROUP", "g", "alice", "COUNT", "10", "STREAMS", "s", ">")
    r.run("XACK", "s", "g", "4-0", "5-0", "6-0")
    pending = r.engine.keyspace.streams[b"s"].groups[b"g"].pending
    firsts = [make_id(first, 0) for first, _ in spans]
    lasts = [make_id(last, 0) for _, last in spans]
    pending.remove_spans(IdSpans(firsts, lasts))
    assert pending.count == 7
    check(r.engine.keyspace)
