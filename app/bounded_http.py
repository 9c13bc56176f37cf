"""uvicorn's HTTP/1.1 protocol within bounds: how large a head may be, how long anything may take, and how a
connection that went too far is told so.

uvicorn bounds neither: a client may drip a head for ever, send one without end, and leave its answer
unread. Here every connection is looked at about once a second (`app.connections`), and what is still the
same as at the last look counts:

===========  ====================================================  ==============================
what it is   stands still while                                    then
===========  ====================================================  ==============================
head         the head that is awaited is the same one              408, or a close if nothing came
body         no further 8 s worth of the least rate has arrived    408
answer       the client takes nothing of what waits for it         cut
idle         nothing came since the last answer                    closed
leaving      it was told to go, and is still there                 cut
===========  ====================================================  ==============================

A request that is being worked on may take its time. One that was answered before its body was there counts
as one whose head is awaited. uvicorn has a timer for idle connections, set anew at every answer, which costs
as much as a tenth of an append; here they are looked at with the others.

A request that asks for another protocol than WebSocket (`Upgrade: h2c`) is served as HTTP/1.1, with its body.

A refusal is written in its turn, behind the answers that are still due, and the connection then *lingers*:
our side of it ends, and what the client still sends is thrown away for a while. To close at once with
input unread would reset the connection, and the client might never read why.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from enum import Enum
from typing import Any, ClassVar, Final, NamedTuple, cast

import httptools
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from tailrace.api.problems.table import DEFECT, HttpCode
from tailrace.app.connections import SMALL_BODY_BYTES, Connections, cut
from tailrace.app.handshakes import head_bytes, opens_websocket, require_handshake
from tailrace.app.refusals import Refused, refusal_bytes
from tailrace.app.request_heads import origin_form, require_sound_head
from tailrace.core.limits import HEAD_BYTES_MAX, HEADERS_MAX, URL_BYTES_MAX

BODY_WINDOW_S: Final = 8
"""Over how many seconds the rate of a body is taken: long enough for a line that stutters."""

LINGER_S: Final = 5
"""How long a client that was refused, or answered before its body was there, may go on sending."""

_logger: Final = logging.getLogger("tailrace.http")


class Phase(Enum):
    """What a connection waits for."""

    HEAD = "header_timeout"
    BODY = "body_timeout"
    ANSWER = "answer_timeout"
    IDLE = "idle"
    LEAVING = "lingering"
    WORK = "none"
    """Nothing that the client owes."""


class _Stand(NamedTuple):
    """Where a connection stands. `mark` differs from the last look's where it moved; in `limit_s` seconds
    without that it is over."""

    phase: Phase
    mark: int
    limit_s: int


_AT_WORK: Final = _Stand(Phase.WORK, 0, 0)


class BoundedHttpProtocol(HttpToolsProtocol):
    """One connection. `registry` is set by whoever makes the class for a server."""

    registry: ClassVar[Connections]

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.url = b""
        self._heads = 0
        self._loose_bytes = 0
        """Received since the last whole head or piece of body: of a head, a trailer or the like."""
        self._body_bytes = 0
        self._held_bytes = 0
        self.is_deaf = False
        """What arrives is thrown away: the connection is about to end."""
        self._last_words: bytes | None = None
        self._stand = _AT_WORK
        self._still_s = 0.0
        self._unsent_bytes = 0
        self._drains = 0
        self.opens_websocket = False
        """The request is a valid opening handshake: the WebSocket protocol takes over."""
        self._is_idle = False
        """Nothing has come to be parsed since the last answer was written."""

    # --- the connection ------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        """Count it; where there are too many, say so and end."""
        super().connection_made(transport)
        excess = self.registry.enter(self, self.host)
        if excess is None:
            return
        self.registry.cuts["too_many_connections"] += 1
        if excess.is_mute:
            cut(transport)
        else:
            self._refuse(Refused(HttpCode.TOO_MANY_OPEN, excess.detail))

    def cut(self) -> None:
        """End the connection now; see `app.connections.cut`."""
        cut(self.transport)

    @property
    def host(self) -> str:
        """The client's address."""
        return self.client[0] if self.client else ""

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self.registry.leave(self)
        self._release_body()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        """Another protocol takes over, and counts in this one's place."""
        super().handle_websocket_upgrade()
        successor: Any = self.transport.get_protocol()
        if successor is not self:
            self.registry.replace(self, successor)

    # --- what arrives --------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Have it parsed, as long as it is not too much of what is no body."""
        if self.is_deaf:
            return
        self._loose_bytes += len(data)
        self._is_idle = False
        self._feed(data)
        if self._loose_bytes > HEAD_BYTES_MAX and not self.is_deaf:
            self._refuse(_too_large_head(self.url))

    def _feed(self, data: bytes) -> None:
        """Have the parser read `data`. Where a request asks for another protocol, the parser stops behind its
        head: the WebSocket protocol takes over, or the request is parsed again without that wish, since the
        parser has taken what follows for the other protocol's."""
        rest = memoryview(data)
        try:
            while True:
                try:
                    self.parser.feed_data(rest)
                except httptools.HttpParserUpgrade as stop:
                    if self.opens_websocket:
                        self.handle_websocket_upgrade()
                        return
                    self._begin_anew()
                    rest = rest[stop.args[0] :]
                else:
                    return
        except httptools.HttpParserError as failure:
            self._parsing_failed(failure)

    def _begin_anew(self) -> None:
        """Give the head that was just parsed to a new parser, without its wish for another protocol."""
        method, version = self.parser.get_method(), self.parser.get_http_version()
        headers = [header for header in self.headers if header[0] != b"upgrade"]
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
        self.parser.feed_data(head_bytes(method, self.url, version, headers))

    def check_head(self) -> None:
        """The head is whole. Raises `Refused`, which ends the connection."""
        if len(self.url) > URL_BYTES_MAX or len(self.headers) > HEADERS_MAX:
            raise _too_large_head(self.url)
        # Only a read that is larger than any head may be can hold one that is too large.
        if self._loose_bytes > HEAD_BYTES_MAX and _size_of(self.url, self.headers) > HEAD_BYTES_MAX:
            raise _too_large_head(self.url)
        method, version = self.parser.get_method(), self.parser.get_http_version()
        require_sound_head(method, version, self.headers)
        self.url = origin_form(method, self.url, self.headers)
        if self.parser.should_upgrade():
            # Behind a request that is still being answered the protocol cannot change.
            self.opens_websocket = self.is_free and opens_websocket(method, self.url, version, self.headers)
            if self.opens_websocket:
                require_handshake(self.url, self.headers)
        self.note_head()

    @property
    def is_to_begin_anew(self) -> bool:
        """Whether the parser stops behind this head, and the request is parsed again: see `_feed`."""
        return bool(self.parser.should_upgrade()) and not self.opens_websocket

    def _should_upgrade(self) -> bool:
        """What uvicorn asks: whether the protocol changes with this request."""
        return self.opens_websocket

    def note_head(self) -> None:
        """A request has come this far."""
        self._heads += 1
        self._loose_bytes = self._body_bytes = 0

    def start_request(self) -> None:
        """Hand the request to the application."""
        super().on_headers_complete()
        if self.parser.should_upgrade():
            return
        if _may_be_long(self.headers):
            self.cycle.transport = _PatientTransport(self)  # type: ignore[assignment] # all that it uses
        # The application has its headers; what comes behind a chunked body would be added to them.
        self.headers = []

    def count_body(self, size: int) -> None:
        """A piece of a body came. Raises `Refused` where all bodies together take too much."""
        self._loose_bytes = 0
        self._body_bytes += size
        if self._body_bytes > SMALL_BODY_BYTES:
            if not self.registry.hold(size):
                raise Refused(
                    HttpCode.TOO_MANY_OPEN, f"bodies of {self.registry.limits.bodies_mb} MiB are held already"
                )
            self._held_bytes += size

    def _release_body(self) -> None:
        self.registry.release(self._held_bytes)
        self._held_bytes = 0

    # --- refusing ------------------------------------------------------------------------------

    def _parsing_failed(self, failure: httptools.HttpParserError) -> None:
        """The parser failed, or one of the methods above that it calls did."""
        # The parser says only that a method failed; it hangs what that raised behind it.
        cause = failure.__context__ if isinstance(failure, httptools.HttpParserCallbackError) else failure
        if isinstance(cause, Refused):
            self._refuse(cause)
        elif isinstance(cause, UnicodeError | httptools.HttpParserError):
            self._refuse(Refused(HttpCode.BAD_REQUEST, f"this is no HTTP request: {cause}"))
        else:
            _logger.error("request_failed", exc_info=cause)
            self._refuse(Refused(HttpCode.INTERNAL, DEFECT))

    def _refuse(self, refusal: Refused) -> None:
        """Say why, when it is its turn, and end the connection."""
        self.is_deaf = True
        words = refusal_bytes(refusal, self.server_state.default_headers)
        if self.is_body_awaited and self.pipeline:
            # Its body is not there, and its turn has not come: the refusal takes its place.
            self.pipeline.popleft()
            self.cycle.response_complete = True
            self._last_words = words
        elif self.is_body_awaited:
            self._say_before_body(words)
        elif self.is_free and not self.pipeline:
            self._say(words)
        else:
            self._last_words = words

    def _say_before_body(self, words: bytes) -> None:
        """The application waits for a body that will not come: it is told that the client has gone."""
        cycle = self._current
        if cycle is not None:
            cycle.disconnected = True
            cycle.waiting_for_100_continue = False
            cycle.message_event.set()
            if cycle.response_started:
                self.cut()
                return
        self._say(words)

    def _say(self, words: bytes) -> None:
        self.transport.write(words)
        self.linger()

    def linger(self) -> None:
        """End our side; throw away what still comes, until the client has ended its side or time is up."""
        self.is_deaf = True
        self.flow.resume_reading()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        else:
            self.transport.close()

    def on_response_complete(self) -> None:
        """Go on, or say why not."""
        if self._held_bytes:
            self._release_body()
        if self.pipeline:
            super().on_response_complete()
            return
        self._rest()
        if self._last_words is not None:
            words, self._last_words = self._last_words, None
            self._say(words)

    def _rest(self) -> None:
        """All that came is answered: as uvicorn does, without its timer."""
        self.server_state.total_requests += 1
        self._is_idle = True
        if not self.transport.is_closing():
            self.flow.resume_reading()

    # --- looking -------------------------------------------------------------------------------

    def look(self, passed_s: float) -> None:
        """A second or so has passed: end what has stood still for too long."""
        stand = self._where_it_stands()
        if stand != self._stand or stand is _AT_WORK:
            self._stand = stand
            self._still_s = 0.0
            return
        self._still_s += passed_s
        if self._still_s >= stand.limit_s:
            self._still_s = 0.0
            self._overdue(stand.phase)

    def _where_it_stands(self) -> _Stand:
        limits = self.registry.limits
        unsent_bytes, before = self.transport.get_write_buffer_size(), self._unsent_bytes
        self._unsent_bytes = unsent_bytes
        if (self.is_deaf and self._last_words is None) or self.transport.is_closing():
            return _Stand(Phase.LEAVING, 0, LINGER_S)
        if unsent_bytes:
            # What is written meanwhile is no sign of life: only less than before is.
            self._drains += unsent_bytes < before
            return _Stand(Phase.ANSWER, self._drains, limits.answer_timeout_s)
        if self.is_body_awaited:
            if self.flow.read_paused or not limits.body_bytes_per_s_min:
                return _AT_WORK
            quota = limits.body_bytes_per_s_min * BODY_WINDOW_S
            return _Stand(Phase.BODY, self._body_bytes // quota, BODY_WINDOW_S)
        is_at_work = self._last_words is not None or not self.is_free
        return _AT_WORK if is_at_work else self._where_it_rests()

    def _where_it_rests(self) -> _Stand:
        """Nothing is being answered."""
        if self._is_idle:
            return _Stand(Phase.IDLE, self._heads, self.registry.limits.keep_alive_timeout_s)
        return _Stand(Phase.HEAD, self._heads, self.registry.limits.header_timeout_s)

    def _overdue(self, phase: Phase) -> None:
        if phase is Phase.IDLE:
            self.transport.close()
            return
        self.registry.cuts[phase.value] += 1
        if phase in (Phase.ANSWER, Phase.LEAVING):
            self.cut()
        elif phase is Phase.HEAD and not self._loose_bytes:
            # Browsers open connections in stock: one that was never used is no error.
            self.transport.close()
        else:
            limit_s = self._stand.limit_s
            what = "the head was not there" if phase is Phase.HEAD else "nearly nothing of the body came"
            self._refuse(Refused(HttpCode.REQUEST_TIMEOUT, f"{what} within {limit_s} s"))
            self.transport.close()

    @property
    def is_free(self) -> bool:
        """Whether nothing is being answered."""
        return self._current is None

    @property
    def is_body_awaited(self) -> bool:
        """Whether a request has begun and its body is not all there."""
        return self._current is not None and self._current.more_body

    @property
    def _current(self) -> RequestResponseCycle | None:
        """The request that is being answered; uvicorn keeps one that was answered in the same place."""
        cycle: RequestResponseCycle | None = cast("RequestResponseCycle | None", self.cycle)
        return None if cycle is None or cycle.response_complete else cycle


class _PatientTransport:
    """What uvicorn sees as the transport of a request whose body may be long: a close before all of the
    body is there is a refusal, and must be read."""

    __slots__ = ("_protocol", "is_closing", "write")

    def __init__(self, protocol: BoundedHttpProtocol) -> None:
        self._protocol = protocol
        self.write = protocol.transport.write
        self.is_closing = protocol.transport.is_closing

    def close(self) -> None:
        """Close; if the client is still sending, so that it can read the answer."""
        if self._protocol.cycle.more_body:
            self._protocol.linger()
        else:
            self._protocol.transport.close()


def _too_large_head(url: bytes) -> Refused:
    if len(url) > URL_BYTES_MAX:
        return Refused(HttpCode.URL_TOO_LONG, f"a target may take {URL_BYTES_MAX} bytes at most")
    return Refused(
        HttpCode.HEAD_TOO_LARGE,
        f"a head may take {HEAD_BYTES_MAX} bytes and {HEADERS_MAX} lines at most, a trailer as many",
    )


def _size_of(url: bytes, headers: Sequence[tuple[bytes, bytes]]) -> int:
    return len(url) + sum(len(name) + len(value) + len(b": \r\n") for name, value in headers)


_FEW_DIGITS: Final = len(b"65535")


def _may_be_long(headers: Sequence[tuple[bytes, bytes]]) -> bool:
    """Whether the body may be more than what the system takes in while the answer is written."""
    return any(
        name == b"transfer-encoding" or (name == b"content-length" and len(value) >= _FEW_DIGITS)
        for name, value in headers
    )
