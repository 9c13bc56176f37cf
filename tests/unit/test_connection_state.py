"""The state of a connection: every valid step, every invalid one, and what follows from the tables."""

from __future__ import annotations

import re
from itertools import product

import pytest

from tailrace.app.protocols import state as states
from tailrace.app.protocols.state import (
    ANSWERING,
    RECEIVING,
    Answering,
    ConnectionState,
    Event,
    IllegalTransition,
    Receiving,
)


def at(receiving: Receiving, answering: Answering) -> ConnectionState:
    state = ConnectionState()
    state.receiving, state.answering = receiving, answering
    return state


def after(*events: Event) -> tuple[Receiving, Answering]:
    state = ConnectionState()
    for event in events:
        state.happened(event)
    return state.receiving, state.answering


OPEN = [
    (receiving, answering)
    for receiving, answering in product(Receiving, Answering)
    if receiving is not Receiving.CLOSED and answering is not Answering.CLOSED
]
EVERY_STEP = [(*now, event) for now in OPEN for event in Event]


def expected(receiving: Receiving, answering: Answering, event: Event) -> tuple[Receiving, Answering] | None:
    """Return the next states by the tables, one machine at a time."""
    received = RECEIVING[event].get(receiving) if event in RECEIVING else receiving
    answered = ANSWERING[event].get(answering) if event in ANSWERING else answering
    return None if received is None or answered is None else (received, answered)


@pytest.mark.parametrize(("receiving", "answering", "event"), EVERY_STEP)
def test_a_step_follows_both_tables_or_is_refused_and_changes_nothing(
    receiving: Receiving, answering: Answering, event: Event
) -> None:
    state = at(receiving, answering)
    then = expected(receiving, answering, event)
    if then is None:
        with pytest.raises(IllegalTransition, match=re.escape(f"{event} while {receiving} and {answering}")):
            state.happened(event)
    else:
        state.happened(event)
    assert (state.receiving, state.answering) == (then or (receiving, answering))


@pytest.mark.parametrize("event", Event)
def test_nothing_happens_to_a_closed_connection(event: Event) -> None:
    state = at(Receiving.CLOSED, Answering.CLOSED)
    with pytest.raises(IllegalTransition):
        state.happened(event)


def table_in_docs(first: str) -> dict[Event, dict[str, str]]:
    """The table of the module's docstring whose first state is `first`, as event -> state -> next state."""
    lines = (states.__doc__ or "").splitlines()
    head = next(
        index for index, line in enumerate(lines) if line.startswith("event ") and line.split()[1] == first
    )
    names = lines[head].split()[1:]
    starts = [match.start() for match in re.finditer(r"=+", lines[head + 1])]
    found = {}
    for line in lines[head + 2 :]:
        if line.startswith("="):
            break
        cells = [line[begin:end].strip() for begin, end in zip(starts, [*starts[1:], None], strict=True)]
        found[Event[cells[0]]] = {name: cell for name, cell in zip(names, cells[1:], strict=True) if cell}
    return found


@pytest.mark.parametrize(
    ("first", "table"), [("IDLE", RECEIVING), ("FREE", ANSWERING)], ids=["receiving", "answering"]
)
def test_the_documented_table_is_the_table_in_force(
    first: str, table: dict[Event, dict[Receiving | Answering, Receiving | Answering]]
) -> None:
    in_force = {event: {now.name: then.name for now, then in steps.items()} for event, steps in table.items()}
    assert table_in_docs(first) == in_force


def test_every_event_is_seen_by_a_machine_and_every_state_is_reached_and_left() -> None:
    assert set(Event) == set(RECEIVING) | set(ANSWERING)
    for table, kinds, first in ((RECEIVING, Receiving, "IDLE"), (ANSWERING, Answering, "FREE")):
        steps = [step for row in table.values() for step in row.items()]
        assert {then.name for _, then in steps} | {first} == {kind.name for kind in kinds}
        assert {now.name for now, _ in steps} == {kind.name for kind in kinds} - {"CLOSED"}


# --- stories -------------------------------------------------------------------------------------------

ARRIVED = (Event.BEGUN, Event.HEAD_COMPLETE, Event.COMPLETE)
IDLE = (Receiving.IDLE, Answering.FREE)


def test_a_hot_request_goes_to_the_store_when_it_is_complete_and_not_before() -> None:
    assert after(*ARRIVED, Event.HOT_SUBMITTED, Event.ANSWERED) == IDLE
    assert after(Event.HOT_SUBMITTED, Event.ANSWERED) == IDLE, "its head was cached"
    with pytest.raises(IllegalTransition):
        after(Event.BEGUN, Event.HEAD_COMPLETE, Event.HOT_SUBMITTED)


def test_a_run_of_hot_requests_ends_with_one_answer() -> None:
    assert after(Event.HOT_SUBMITTED, Event.HOT_SUBMITTED, Event.ANSWERED) == IDLE


def test_a_hot_request_is_never_carried_out_beside_a_request_of_the_application() -> None:
    with pytest.raises(IllegalTransition):
        after(Event.BEGUN, Event.HEAD_COMPLETE, Event.STARTED, Event.COMPLETE, Event.HOT_SUBMITTED)


def test_a_hot_request_that_the_store_refuses_is_answered_by_the_application() -> None:
    handed_on = (*ARRIVED, Event.HOT_SUBMITTED, Event.HANDED_ON)
    assert after(*handed_on) == (Receiving.IDLE, Answering.ASGI)
    assert after(*handed_on, Event.ANSWERED) == IDLE


def test_the_next_request_may_arrive_while_one_is_answered() -> None:
    begun = (*ARRIVED, Event.HOT_SUBMITTED, Event.BEGUN)
    assert after(*begun) == (Receiving.HEAD, Answering.HOT)
    assert after(*begun, Event.ANSWERED, Event.HEAD_COMPLETE) == (Receiving.BODY, Answering.FREE)


def test_a_head_that_wishes_for_another_protocol_is_read_twice() -> None:
    assert after(Event.BEGUN, Event.HEAD_AGAIN, *ARRIVED) == IDLE


def test_the_protocol_changes_only_while_nothing_is_answered() -> None:
    assert after(*ARRIVED, Event.SWITCHED) == (Receiving.CLOSED, Answering.CLOSED)
    with pytest.raises(IllegalTransition):
        after(*ARRIVED, Event.HOT_SUBMITTED, Event.SWITCHED)


def test_a_refusal_waits_for_the_answers_before_it() -> None:
    refused = (*ARRIVED, Event.STARTED, Event.BEGUN, Event.REFUSED)
    assert after(*refused) == (Receiving.DISCARDING, Answering.ASGI)
    assert after(*refused, Event.ANSWERED, Event.LEFT) == (Receiving.DISCARDING, Answering.LEAVING)
    with pytest.raises(IllegalTransition):
        after(*refused, Event.REFUSED)


def test_nothing_starts_on_a_connection_that_is_leaving() -> None:
    left = (Event.BEGUN, Event.HEAD_COMPLETE, Event.STARTED, Event.LEFT)
    assert after(*left, Event.ANSWERED) == (Receiving.DISCARDING, Answering.LEAVING)
    for event in (Event.STARTED, Event.HOT_SUBMITTED, Event.HANDED_ON, Event.BEGUN):
        with pytest.raises(IllegalTransition):
            after(*left, event)
