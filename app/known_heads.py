"""Requests whose head was seen before: their head is not parsed again.

A client that appends sends the same head over and over, and bytes that meant something once mean the same
the next time. So the head of a plain request (`app.http_protocol`) that came whole in one read is remembered
with what it meant. A later read that is such a head and exactly its body goes to the store without the
parser, which stands between two requests then and never hears of it. Parsing costs more than an append.

Whatever else a read is, the parser gets it as ever: a part of a request, several at once, a head with an id
of its own (which never comes again, and is not remembered). Who sends a request, and whether that is allowed
still, is asked every time. What is refused is given to the parser after all, and takes the documented way.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

from uvicorn.config import Config
from uvicorn.server import ServerState

from tailrace.api.access.rates import Rates
from tailrace.api.access.security import Security
from tailrace.api.hot.requests import HotRoute
from tailrace.api.http.request_id import new_request_id
from tailrace.app.hot_observer import HotObserver
from tailrace.app.http_protocol import Credentials, FastHttpProtocol, credentials_of
from tailrace.app.metrics.sources import Sources
from tailrace.app.plain_request import AnswerStarts, Headers, PlainRequest

if TYPE_CHECKING:
    from tailrace.app.observability.spans import Tracing

HEADS_MAX: Final = 1024
"""Of one server; a head for each length of body and each stream. When they are as many, all are forgotten."""

HEAD_BYTES_MAX: Final = 1024
READ_BYTES_MAX: Final = 65_536
"""Larger requests gain nothing here, and rarely come in one read."""

_END: Final = b"\r\n\r\n"
_ONCE: Final = frozenset({b"x-request-id", b"idempotency-key"})
"""Headers whose value is another one with each request."""


class KnownHead(NamedTuple):
    """A head, and what it means. `size`: of a whole request, its body included."""

    head: bytes
    size: int
    route: HotRoute
    credentials: Credentials
    target: bytes


class KnownHeads:
    """The heads that one server was sent, by their bytes."""

    def __init__(self) -> None:
        self._heads: dict[bytes, KnownHead] = {}

    def find(self, data: bytes) -> KnownHead | None:
        """The head that `data` begins with; None unless `data` is it and its body."""
        known = self._heads.get(_head_of(data))
        return known if known is not None and known.size == len(data) else None

    def remember(self, data: bytes, plain: PlainRequest, headers: Headers) -> None:
        """`data` was one whole request, unless there was more in it; its head comes again, unless it has
        what never does."""
        head = _head_of(data)
        size = len(head) + len(plain.body)
        if not head or len(data) != size or any(name in _ONCE for name, _ in headers):
            return
        if len(self._heads) >= HEADS_MAX:
            self._heads.clear()
        self._heads[head] = KnownHead(head, size, plain.route, credentials_of(headers), plain.target)


def _head_of(data: bytes) -> bytes:
    """What stands before the body; nothing, where there is no end of a head."""
    end = data.find(_END, 0, HEAD_BYTES_MAX)
    return data[: end + len(_END)] if end >= 0 else b""


class KnownHeadsProtocol(FastHttpProtocol):
    """One connection. `heads` is set by whoever makes the class for a server."""

    heads: ClassVar[KnownHeads]

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._is_between = True
        """No byte of a request that is not whole yet was received."""
        self._read: bytes | None = None
        """What is being parsed, where it began between two requests."""
        self._last: KnownHead | None = None
        """The head that came last: mostly it is the next one, too."""

    def data_received(self, data: bytes) -> None:
        """Carry out a request whose head is known; have all else parsed."""
        if not self._is_between or len(data) > READ_BYTES_MAX or not self.takes_plain:
            super().data_received(data)
            return
        known = self._last
        if known is None or known.size != len(data) or not data.startswith(known.head):
            known = self._last = self.heads.find(data)
        if known is not None and self._carry_out(known, data):
            return
        self._read = data
        super().data_received(data)
        self._read = None

    def _carry_out(self, known: KnownHead, data: bytes) -> bool:
        principal = self.principal_of(known.credentials)
        if principal is None:
            return False
        plain = PlainRequest(self, known.route, principal, known.target)
        plain.body, plain.read = data[len(known.head) :], data
        plain.request_id = new_request_id()
        if self.carry_out(plain):
            self.note_head()
            return True
        self.quota_taken = plain.quota
        return False

    def on_message_begin(self) -> None:
        """A request begins."""
        self._is_between = False
        super().on_message_begin()

    def on_message_complete(self) -> None:
        """Remember the head of a plain request that came in one read."""
        self._is_between = True
        plain = self.plain
        super().on_message_complete()
        if plain is not None and self._read is not None:
            self.heads.remember(self._read, plain, self.headers)


def fast_protocol(
    sources: Sources, tracing: Tracing | None, security: Security, rates: Rates
) -> type[KnownHeadsProtocol]:
    """The protocol class for `uvicorn.Config(http=...)` over the store of `sources`, whose registry counts
    its connections and whose figures its requests; `security` says who may do what, and `rates` how often."""
    members = {
        "store": sources.store,
        "registry": sources.connections,
        "observer": HotObserver(sources, tracing),
        "security": security,
        "rates": rates,
        "answer_starts": AnswerStarts(),
        "heads": KnownHeads(),
    }
    return type("ServersHttpProtocol", (KnownHeadsProtocol,), members)
