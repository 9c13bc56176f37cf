"""Tickets: the way for a browser page to authenticate a WebSocket, because a page cannot set its headers.

A ticket is random and valid for one handshake within a minute. It represents the principal that requested it;
if the token of this principal is revoked, the ticket is invalid as well. This module owns the issued tickets,
in memory only. It keeps their digests, so that the time of a look-up reveals nothing about any ticket.
"""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Callable
from hashlib import sha256
from typing import Final, NamedTuple

from tailrace.api.principals import Principal, Unauthenticated
from tailrace.api.problems.table import HttpCode, RequestRefused

TICKET_SUBPROTOCOL: Final = "tailrace.ticket."
"""The prefix of a ticket in the list of subprotocols."""

EXPIRES_IN_S: Final = 60

TICKETS_PER_TOKEN_MAX: Final = 1_000
"""Unused tickets of one token; a page needs one for each socket, and has a minute to use it."""


class _Ticket(NamedTuple):
    principal: Principal
    until_s: float


class TicketBook:
    """The unused tickets, oldest first. All methods are O(1) amortised. `clock_s`: a monotonic clock."""

    def __init__(self, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._clock_s = clock_s
        self._tickets: dict[bytes, _Ticket] = {}
        self._counts: Counter[str] = Counter()

    def issue(self, principal: Principal) -> str:
        """Issue a ticket. Raises `RequestRefused` if the token has too many unused ones."""
        self._forget_expired()
        if self._counts[principal.token_id] >= TICKETS_PER_TOKEN_MAX:
            detail = (
                f"a token may have {TICKETS_PER_TOKEN_MAX} unused tickets, and each expires "
                f"after {EXPIRES_IN_S} s"
            )
            raise RequestRefused(HttpCode.TOO_MANY_OPEN, detail, headers={"Retry-After": "1"})
        ticket = secrets.token_urlsafe(32)
        self._tickets[_digest(ticket)] = _Ticket(principal, self._clock_s() + EXPIRES_IN_S)
        self._counts[principal.token_id] += 1
        return ticket

    def redeem(self, ticket: str) -> Principal:
        """Return the principal that requested the ticket, and invalidate the ticket. Raises
        `Unauthenticated`."""
        self._forget_expired()
        found = self._tickets.pop(_digest(ticket), None)
        if found is None:
            raise Unauthenticated("the ticket is unknown: it was already used, or it has expired")
        self._leave(found)
        return found.principal

    def _forget_expired(self) -> None:
        now_s = self._clock_s()
        while self._tickets and (oldest := next(iter(self._tickets.items())))[1].until_s <= now_s:
            del self._tickets[oldest[0]]
            self._leave(oldest[1])

    def _leave(self, ticket: _Ticket) -> None:
        token_id = ticket.principal.token_id
        self._counts[token_id] -= 1
        if not self._counts[token_id]:
            del self._counts[token_id]


def _digest(ticket: str) -> bytes:
    return sha256(ticket.encode()).digest()
