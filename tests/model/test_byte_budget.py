"""MAXSIZE for all kinds of reads: how much of the unlimited reply a byte budget allows (rule 26).

The bounds are those of the rule, independent of a way to count: the reply without its last entry is below the
budget, and a reply that was cut short has reached it.
"""

from __future__ import annotations

import os
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.redis_like import R

IN_CI: Final = os.environ.get("CI", "").lower() in {"1", "true"}
KINDS: Final = {
    "plain": "XREAD {} STREAMS s t 0 0",
    "new": "XREADGROUP GROUP fresh alice {} STREAMS s t > >",
    "history": "XREADGROUP GROUP read alice {} STREAMS s t 0 0",
    "claimed": "XREADGROUP GROUP read bob CLAIM 0 {} STREAMS s t > >",
}
NEXT_STREAM_HEAD: Final = len("*2\r\n$1\r\nt\r\n")
"""If the first stream ends within the budget, the key of the second one is written before the next test."""

SIZES: Final = st.lists(st.integers(0, 400), max_size=6)


def resp_size(value: Any) -> int:
    """How many bytes a reply takes in RESP2."""
    if isinstance(value, list):
        return len(f"*{len(value)}\r\n") + sum(map(resp_size, value))
    if isinstance(value, str):
        length = len(value.encode())
        return len(f"${length}\r\n\r\n") + length
    return len(f":{value}\r\n")


def server(sizes: tuple[list[int], list[int]]) -> R:
    """Streams `s` and `t` with entries of those sizes; group `read` has read all, `fresh` nothing."""
    r = R()
    for key, lengths in zip("st", sizes, strict=True):
        for group in ("read", "fresh"):
            r.run("XGROUP", "CREATE", key, group, "0", "MKSTREAM")
        for length in lengths:
            r.run("XADD", key, "*", "f", "x" * length)
        r.run("XREADGROUP", "GROUP", "read", "alice", "STREAMS", key, ">")
    return r


def entries_of(reply: Any) -> list[Any]:
    """The entries of all streams in order, without what a claim changes."""
    return [entry for _, entries in reply or [] for entry in entries]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60, derandomize=IN_CI)
@given(sizes=st.tuples(SIZES, SIZES), limit=st.integers(1, 2000))
def test_a_byte_budget_cuts_where_it_is_reached_and_never_before_the_first_entry(
    kind: str, sizes: tuple[list[int], list[int]], limit: int
) -> None:
    everything = entries_of(server(sizes).line(KINDS[kind].format("")))
    reply = server(sizes).line(KINDS[kind].format(f"MAXSIZE {limit}"))
    entries = entries_of(reply)
    assert entries == everything[: len(entries)]
    assert bool(entries) == bool(everything)
    assert sum(map(resp_size, entries[:-1])) < limit or len(entries) <= 1
    if len(entries) < len(everything):
        assert resp_size(reply) + NEXT_STREAM_HEAD >= limit


@pytest.mark.parametrize("kind", ["new", "claimed"])
@settings(max_examples=40, derandomize=IN_CI)
@given(sizes=st.tuples(SIZES, SIZES), limit=st.integers(1, 2000))
def test_reading_on_under_a_byte_budget_gives_everything_once(
    kind: str, sizes: tuple[list[int], list[int]], limit: int
) -> None:
    everything = entries_of(server(sizes).line(KINDS[kind].format("")))
    r = server(sizes)
    r.now_ms += 10
    command = KINDS[kind].format(f"MAXSIZE {limit}").replace("CLAIM 0", "CLAIM 10")
    found: list[Any] = []
    while page := entries_of(r.line(command)):
        found += page
    assert sorted(entry[0] for entry in found) == sorted(entry[0] for entry in everything)
