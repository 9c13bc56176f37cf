"""The judge of histories: it accepts what some order explains, and finds each kind of violation."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.linearizability.history import (
    Acknowledged,
    Appended,
    GroupRead,
    History,
    SawNewest,
    SawPending,
    violations,
)


def history() -> History:
    """Three appends, of which two overlap; reads, and acknowledgments of which two meet."""
    return History(
        appends=[Appended(0, 10, "1-0"), Appended(20, 40, "2-0"), Appended(20, 50, "2-1")],
        newest=[
            SawNewest(1, 2, [], 5),
            SawNewest(12, 13, ["1-0"], 5),
            SawNewest(25, 30, ["1-0", "2-0"], 5),
            SawNewest(60, 70, ["2-0", "2-1"], 2),
        ],
        group_reads=[
            GroupRead(3, 4, "alice", [], 2),
            GroupRead(11, 15, "alice", ["1-0"], 2),
            GroupRead(30, 60, "bob", ["2-0"], 1),
            GroupRead(55, 65, "alice", ["2-1"], 2),
            GroupRead(70, 80, "bob", [], 2),
        ],
        acknowledged=[
            Acknowledged(20, 30, "1-0", 1),
            Acknowledged(25, 28, "1-0", 0),
            Acknowledged(66, 68, "2-1", 1),
        ],
        pending=[
            SawPending(16, 18, "alice", frozenset({"1-0"})),
            SawPending(27, 29, "alice", frozenset()),
            SawPending(69, 70, "bob", frozenset({"2-0"})),
        ],
    )


def test_a_history_that_an_order_explains_has_no_violations() -> None:
    assert list(violations(history())) == []


CHANGES: dict[str, tuple[Callable[[History], object], str]] = {
    "an id twice": (lambda h: h.appends.append(Appended(90, 95, "2-1")), "two appends returned the id 2-1"),
    "an id that falls": (
        lambda h: h.appends.append(Appended(90, 95, "1-1")),
        "must have happened earlier",
    ),
    "an entry from nowhere": (
        lambda h: h.newest.append(SawNewest(90, 95, ["9-9"], 1)),
        "that no append returned",
    ),
    "an entry is passed over": (
        lambda h: h.newest.append(SawNewest(90, 95, ["1-0", "2-1"], 2)),
        "passed over some",
    ),
    "a read is short": (
        lambda h: h.newest.append(SawNewest(90, 95, ["2-1"], 2)),
        "a read of the newest 2 of 3 entries returned 1",
    ),
    "a read is stale": (
        lambda h: h.newest.append(SawNewest(90, 95, ["1-0", "2-0"], 2)),
        "must have happened earlier",
    ),
    "a read sees the future": (
        lambda h: h.newest.append(SawNewest(1, 5, ["1-0", "2-0"], 2)),
        "must have happened earlier",
    ),
    "reads go back": (
        lambda h: h.newest.append(SawNewest(31, 35, ["1-0"], 2)),
        "must have happened earlier",
    ),
    "an entry is given twice": (
        lambda h: h.group_reads.append(GroupRead(90, 95, "bob", ["2-1"], 5)),
        "every entry once and in order",
    ),
    "an entry is not given": (
        lambda h: h.group_reads.remove(GroupRead(55, 65, "alice", ["2-1"], 2)),
        "was not given an entry whose append had ended before",
    ),
    "group reads in the wrong order": (
        lambda h: h.group_reads.__setitem__(1, GroupRead(61, 62, "alice", ["1-0"], 1)),
        "must have happened earlier",
    ),
    "a group read sees the future": (
        lambda h: h.group_reads.__setitem__(1, GroupRead(-5, -3, "alice", ["1-0"], 1)),
        "returned an entry before its append started",
    ),
    "two acknowledgments count": (
        lambda h: h.acknowledged.append(Acknowledged(26, 29, "1-0", 1)),
        "2 acknowledgments of 1-0 removed it",
    ),
    "an acknowledgment before the delivery": (
        lambda h: h.acknowledged.append(Acknowledged(1, 2, "2-0", 1)),
        "that the group had not been given",
    ),
    "an acknowledgment after another": (
        lambda h: h.acknowledged.__setitem__(1, Acknowledged(16, 19, "1-0", 0)),
        "did not remove an entry that was pending",
    ),
    "an acknowledgment does nothing": (
        lambda h: h.acknowledged.append(Acknowledged(90, 95, "2-0", 0)),
        "did not remove an entry that was pending",
    ),
    "pending after the acknowledgment": (
        lambda h: h.pending.append(SawPending(90, 95, "alice", frozenset({"1-0"}))),
        "1-0 was pending after its acknowledgment",
    ),
    "pending before the delivery": (
        lambda h: h.pending.append(SawPending(-2, -1, "alice", frozenset({"1-0"}))),
        "before it read it",
    ),
    "not pending": (
        lambda h: h.pending.append(SawPending(90, 95, "bob", frozenset())),
        "2-0 was not pending for bob",
    ),
    "pending for another": (
        lambda h: h.pending.append(SawPending(90, 95, "alice", frozenset({"2-0"}))),
        "2-0 was pending for alice, which was not given it",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_violation_is_found(name: str) -> None:
    change, text = CHANGES[name]
    found = history()
    change(found)
    assert any(text in violation for violation in violations(found)), list(violations(found))
