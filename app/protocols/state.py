"""The state of one HTTP connection: what it receives, what it answers, and which step may come next.

Rule 1: everything that decides which step may follow which is in this file, as far as possible in the two
tables below. `HttpProtocol` announces each step as an `Event`; an event that the tables do not allow raises
`IllegalTransition`, and nothing changes.

Rule 2: this file knows no bytes, no clock, no transport and no request. So every sequence of steps can be
tested without a connection.


Theory of operation
===================

A connection is two machines. One follows what the client sends, the other what the server does about it. They
are two because HTTP allows pipelining: while the server answers one request, the next one may already be
arriving. Both start at the first state of their table.

**Receiving** follows the HTTP parser through a request:

- ``IDLE``: between two requests. Not one byte of the next request has come.
- ``HEAD``: a request has begun, and its head is incomplete.
- ``BODY``: the head is complete, and the body is not. A request without a body passes through this state too.
- ``DISCARDING``: the connection is about to end. The server throws away what still arrives.
- ``CLOSED``: the connection is gone, or belongs to the WebSocket protocol.

=============  =========  =========  =========  ==========
event          IDLE       HEAD       BODY       DISCARDING
=============  =========  =========  =========  ==========
BEGUN          HEAD
HEAD_AGAIN                IDLE
HEAD_COMPLETE             BODY
COMPLETE                             IDLE
HOT_SUBMITTED  IDLE
REFUSED        DISCARDING DISCARDING DISCARDING
INPUT_ENDED    DISCARDING DISCARDING DISCARDING
LEFT           DISCARDING DISCARDING DISCARDING DISCARDING
SWITCHED       CLOSED
LOST           CLOSED     CLOSED     CLOSED     CLOSED
=============  =========  =========  =========  ==========

``HEAD_AGAIN``: the request asks for another protocol that the server does not speak, and the parser stops
after such a head. A new parser gets the same head without that wish, from its beginning.

A request whose head is cached (`cached_heads`) arrives complete, in one read. It needs no parser, so no event
announces its arrival: Receiving is ``IDLE`` before and after. ``HOT_SUBMITTED`` is in this table only
because it has a precondition here: a hot request is carried out when all of it is there, never earlier.

**Answering** follows the oldest request that has no complete answer:

- ``FREE``: there is no such request.
- ``HOT``: the store carries out one hot request, or a run of them (`hot_run`). No task, no ASGI scope. A run
  ends with one ``ANSWERED``.
- ``ASGI``: the application answers the request, in a task of its own.
- ``LEAVING``: the server has ended its side of the connection, or ends it after the bytes already written.
- ``CLOSED``: as above.

=============  =======  =======  =======  =======
event          FREE     HOT      ASGI     LEAVING
=============  =======  =======  =======  =======
HOT_SUBMITTED  HOT      HOT
STARTED        ASGI
HANDED_ON               ASGI
INPUT_ENDED             HOT      ASGI
ANSWERED                FREE     FREE     LEAVING
LEFT           LEAVING  LEAVING  LEAVING  LEAVING
SWITCHED       CLOSED
LOST           CLOSED   CLOSED   CLOSED   CLOSED
=============  =======  =======  =======  =======

``HANDED_ON``: the store refused the command of a hot request and changed nothing. The documented route
answers the request from its start.

``INPUT_ENDED``: the client has ended its side while an answer is due. The connection ends after the answers
to all complete requests. If no answer is due, or only that of a request that will never be complete, ``LOST``
follows at once.

Both machines see ``HOT_SUBMITTED``, ``INPUT_ENDED``, ``LEFT``, ``SWITCHED`` and ``LOST``: these need a
fitting state of both.


What follows from the tables
============================

- A hot request never waits in the queue: it is taken while Answering is ``FREE``, or ``HOT`` as the next one
  of a run. While Answering is ``ASGI``, the same request goes to the application, whose requests queue. So
  answers leave in the order of the requests.
- The protocol changes to WebSocket only if no answer is due, since the answer would come too late.
- A refused request is not answered at once. Receiving is ``DISCARDING``, while Answering finishes the
  requests that came before. The refusal is written when Answering is ``FREE`` again; ``LEFT`` follows.
- No answer is sent in ``LEAVING``: the answer of a hot request that arrives then is dropped. ``ANSWERED`` is
  still legal, for an application that ended the connection itself while it wrote its answer.
- ``CLOSED`` allows no event: a collaborator that still holds the connection must look at the state first.

The deadlines (`deadlines`) are a function of both states: a connection waits for the client to send a head
or a body, to take an answer, to come back, or to go; or it waits for the server, which has no deadline.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from itertools import product
from typing import Final


class Receiving(StrEnum):
    """What arrives."""

    IDLE = "idle"
    HEAD = "head"
    BODY = "body"
    DISCARDING = "discarding"
    CLOSED = "closed"


class Answering(StrEnum):
    """What is done about it."""

    FREE = "free"
    HOT = "hot"
    ASGI = "asgi"
    LEAVING = "leaving"
    CLOSED = "closed"


class Event(StrEnum):
    """One step of a connection."""

    BEGUN = "begun"
    HEAD_AGAIN = "head again"
    HEAD_COMPLETE = "head complete"
    COMPLETE = "complete"
    REFUSED = "refused"
    INPUT_ENDED = "input ended"
    HOT_SUBMITTED = "hot submitted"
    STARTED = "started"
    HANDED_ON = "handed on"
    ANSWERED = "answered"
    LEFT = "left"
    SWITCHED = "switched"
    LOST = "lost"


_R, _A = Receiving, Answering

RECEIVING: Final[Mapping[Event, Mapping[Receiving, Receiving]]] = {
    Event.BEGUN: {_R.IDLE: _R.HEAD},
    Event.HEAD_AGAIN: {_R.HEAD: _R.IDLE},
    Event.HEAD_COMPLETE: {_R.HEAD: _R.BODY},
    Event.COMPLETE: {_R.BODY: _R.IDLE},
    Event.HOT_SUBMITTED: {_R.IDLE: _R.IDLE},
    Event.REFUSED: dict.fromkeys((_R.IDLE, _R.HEAD, _R.BODY), _R.DISCARDING),
    Event.INPUT_ENDED: dict.fromkeys((_R.IDLE, _R.HEAD, _R.BODY), _R.DISCARDING),
    Event.LEFT: dict.fromkeys((_R.IDLE, _R.HEAD, _R.BODY, _R.DISCARDING), _R.DISCARDING),
    Event.SWITCHED: {_R.IDLE: _R.CLOSED},
    Event.LOST: dict.fromkeys((_R.IDLE, _R.HEAD, _R.BODY, _R.DISCARDING), _R.CLOSED),
}

ANSWERING: Final[Mapping[Event, Mapping[Answering, Answering]]] = {
    Event.HOT_SUBMITTED: {_A.FREE: _A.HOT, _A.HOT: _A.HOT},
    Event.STARTED: {_A.FREE: _A.ASGI},
    Event.HANDED_ON: {_A.HOT: _A.ASGI},
    Event.INPUT_ENDED: {_A.HOT: _A.HOT, _A.ASGI: _A.ASGI},
    Event.ANSWERED: {_A.HOT: _A.FREE, _A.ASGI: _A.FREE, _A.LEAVING: _A.LEAVING},
    Event.LEFT: dict.fromkeys((_A.FREE, _A.HOT, _A.ASGI, _A.LEAVING), _A.LEAVING),
    Event.SWITCHED: {_A.FREE: _A.CLOSED},
    Event.LOST: dict.fromkeys((_A.FREE, _A.HOT, _A.ASGI, _A.LEAVING), _A.CLOSED),
}


def _joint_table() -> dict[tuple[Receiving, Answering, Event], tuple[Receiving, Answering]]:
    """Both tables as one, so that a step is one look-up. A machine that does not see an event stays, except
    in CLOSED, which no event leaves."""
    table: dict[tuple[Receiving, Answering, Event], tuple[Receiving, Answering]] = {}
    for receiving, answering, event in product(Receiving, Answering, Event):
        if receiving is Receiving.CLOSED or answering is Answering.CLOSED:
            continue
        received = RECEIVING.get(event, {receiving: receiving}).get(receiving)
        answered = ANSWERING.get(event, {answering: answering}).get(answering)
        if received is not None and answered is not None:
            table[receiving, answering, event] = received, answered
    return table


_NEXT: Final = _joint_table()


class IllegalTransition(Exception):
    """A step that the tables do not allow: a defect of the server."""


class ConnectionState:
    """The two states of one connection. Read them freely; only `happened` changes them."""

    __slots__ = ("answering", "receiving")

    def __init__(self) -> None:
        self.receiving = Receiving.IDLE
        self.answering = Answering.FREE

    def happened(self, event: Event) -> None:
        """Take one step. Raises `IllegalTransition`, and then changes nothing. O(1)."""
        try:
            self.receiving, self.answering = _NEXT[self.receiving, self.answering, event]
        except KeyError:
            raise IllegalTransition(f"{event} while {self.receiving} and {self.answering}") from None
