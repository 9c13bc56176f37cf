"""The state of one HTTP connection: what it receives, what it answers, and which step may come next.

Rule 1: only this file decides which step may follow another, and the two tables below contain these
decisions. `HttpProtocol` announces each step as an `Event`. An event that the tables do not allow raises
`IllegalTransition` and changes nothing.

Rule 2: this file uses no bytes, clock, transport or request. So a test can run every sequence of steps
without a connection.


Theory of operation
===================

A connection has two state machines: one for the data that the client sends, one for the answers of the
server. HTTP allows pipelining: while the server answers one request, the next one may already arrive. Each
machine starts in the first state of its table.

**Receiving** follows the HTTP parser through a request:

- ``IDLE``: between two requests. No byte of the next request has arrived.
- ``HEAD``: a request has begun, and its head is incomplete.
- ``BODY``: the head is complete, the body is not. A request without a body also passes through this state.
- ``DISCARDING``: the connection is about to end. The server discards all further data.
- ``CLOSED``: the connection has ended, or belongs to the WebSocket protocol.

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
after such a head. A new parser reads the same head again, without the ``Upgrade`` header.

A request whose head is plain (`heads`) arrives complete, in one read. It needs no parser, so no event
announces its arrival: Receiving is ``IDLE`` before and after. ``HOT_SUBMITTED`` is in this table because it
has a precondition: the server executes a hot request only when all of it has arrived.

**Answering** follows the oldest request that has no complete answer:

- ``FREE``: there is no such request.
- ``HOT``: one hot request, or a run of them (`hot_run`), waits for its answers. No task, no ASGI scope. A run
  ends with one ``ANSWERED``. If the store answers all hot requests of a read at once, Answering stays
  ``FREE``: nothing can come between them and their answers, so no event announces them. This includes a read
  that is kept until the end of a turn of the loop (`hot_turn`): another event carries it out first.
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
now handles the request.

``INPUT_ENDED``: the client has ended its side while an answer is due. The connection ends after the answers
to all complete requests. If no answer to a complete request is due, ``LOST`` follows at once.

``HOT_SUBMITTED``, ``INPUT_ENDED``, ``LEFT``, ``SWITCHED`` and ``LOST`` are in both tables: both machines must
allow them.


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

The deadlines (`deadlines`) depend on both states. A connection waits for the client to send a head or a
body, to read an answer, to send another request, or to end its side. Or it waits for the server, without a
deadline.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from itertools import product
from typing import Final


class Receiving(StrEnum):
    """The state of the data that the client sends."""

    IDLE = "idle"
    HEAD = "head"
    BODY = "body"
    DISCARDING = "discarding"
    CLOSED = "closed"


class Answering(StrEnum):
    """The state of the answers of the server."""

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


# An attribute of an enum is found by its metaclass, which takes as long as a whole step. What runs for each
# hot request uses these names.
IDLE: Final = Receiving.IDLE
BODY: Final = Receiving.BODY
DISCARDING: Final = Receiving.DISCARDING
CLOSED: Final = Receiving.CLOSED
FREE: Final = Answering.FREE
HOT: Final = Answering.HOT
HOT_SUBMITTED: Final = Event.HOT_SUBMITTED
ANSWERED: Final = Event.ANSWERED

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
    """Return both tables as one, so that a step is one look-up.

    If an event is in one table only, the other machine keeps its state. No event leaves CLOSED.
    """
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
        """Take one step. Raises `IllegalTransition`, and changes nothing, if no table allows it. O(1)."""
        try:
            self.receiving, self.answering = _NEXT[self.receiving, self.answering, event]
        except KeyError:
            raise IllegalTransition(f"{event} while {self.receiving} and {self.answering}") from None
