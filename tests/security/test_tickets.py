"""The store of tickets, with a clock that the test sets."""

from __future__ import annotations

import re

import pytest

from tailrace.api.access.tickets import EXPIRES_IN_S, TICKETS_PER_TOKEN_MAX, TicketBook
from tailrace.api.principals import Principal, Unauthenticated
from tailrace.api.problems.table import RequestRefused

GATE = Principal("a", "gate", frozenset({"read"}), (b"*",))
OTHER = Principal("b", "other", frozenset({"read"}), (b"*",))


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_a_ticket_is_good_once() -> None:
    book = TicketBook(Clock())
    ticket = book.issue(GATE)
    assert book.redeem(ticket) is GATE
    with pytest.raises(Unauthenticated):
        book.redeem(ticket)


def test_a_ticket_is_good_for_a_minute() -> None:
    clock = Clock()
    book = TicketBook(clock)
    in_time, too_late = book.issue(GATE), book.issue(GATE)
    clock.now_s += EXPIRES_IN_S - 0.001
    assert book.redeem(in_time) is GATE
    clock.now_s += 0.001
    with pytest.raises(Unauthenticated, match="has expired"):
        book.redeem(too_late)


def test_a_ticket_can_stand_in_a_list_of_subprotocols() -> None:
    tickets = {TicketBook().issue(GATE) for _ in range(200)}
    assert len(tickets) == 200
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{43}", ticket) for ticket in tickets)


def test_one_token_cannot_take_all_tickets() -> None:
    clock = Clock()
    book = TicketBook(clock)
    first = book.issue(GATE)
    for _ in range(TICKETS_PER_TOKEN_MAX - 1):
        book.issue(GATE)
    with pytest.raises(RequestRefused, match="unused tickets"):
        book.issue(GATE)
    assert book.redeem(book.issue(OTHER)) is OTHER
    book.redeem(first)
    book.issue(GATE)
    clock.now_s += EXPIRES_IN_S
    book.issue(GATE)
    assert (len(book._tickets), book._counts) == (1, {"a": 1})
