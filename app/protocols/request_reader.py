"""The HTTP parser of one connection: turns bytes into heads and pieces of bodies.

This module owns the parser, the head that is arriving, and the limits of a head in bytes and lines. It
announces the steps of Receiving (`state`) and passes parsed heads and bodies to the connection. It never
answers: for a request that it refuses, it raises `ProtocolRefusal`.
"""

from __future__ import annotations

import logging
from itertools import chain
from typing import Final, Protocol

import httptools

from tailrace.api.problems.table import DEFECT, HttpCode
from tailrace.app.protocols.handshakes import opens_websocket, require_handshake
from tailrace.app.protocols.head_rules import origin_form, require_sound_head, require_version
from tailrace.app.protocols.heads import Headers, RequestHead
from tailrace.app.protocols.refusals import ProtocolRefusal
from tailrace.app.protocols.state import Answering, ConnectionState, Event
from tailrace.core.limits import HEAD_BYTES_MAX, HEADERS_MAX, URL_BYTES_MAX

_logger: Final = logging.getLogger("tailrace.http")


class RequestSink(Protocol):
    """The receiver of parsed requests. Each method may raise `ProtocolRefusal`."""

    def head_received(self, head: RequestHead) -> None:
        """The head of a request is complete."""
        ...

    def body_received(self, piece: bytes) -> None:
        """A piece of the request's body."""
        ...

    def request_received(self) -> None:
        """The request is complete."""
        ...

    def switch_to_websocket(self, head: RequestHead, rest: bytes) -> None:
        """The request was a valid opening handshake; the parser gets no more bytes. `rest`: those that
        arrived with it."""
        ...


class RequestReader:
    """The parser, and the head that it is reading."""

    def __init__(self, sink: RequestSink, state: ConnectionState) -> None:
        self._sink = sink
        self._state = state
        self._parser = _new_parser(self)
        self._target = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._handshake: RequestHead | None = None
        self._repeated: RequestHead | None = None
        """The head that another parser must read again, without its `Upgrade` header."""
        self.head_count = 0
        """The number of complete heads, including plain ones."""
        self.body_bytes = 0
        """Received bytes of the current body."""
        self.unframed_bytes = 0
        """Bytes of a head or a trailer: received since the last complete head or piece of a body."""

    def close(self) -> None:
        """Drop the parser: the parser and this object refer to each other."""
        del self._parser, self._sink

    def feed(self, data: bytes) -> None:
        """Parse received data. Raises `ProtocolRefusal`."""
        self.unframed_bytes += len(data)
        try:
            while True:
                try:
                    self._parser.feed_data(data)
                    break
                except httptools.HttpParserUpgrade as stop:
                    if self._handshake is not None:
                        self._sink.switch_to_websocket(self._handshake, data[stop.args[0] :])
                        return
                    self._read_head_again()
                    # The parser stopped after the head; `data` is the rest.
                    data = data[stop.args[0] :]
        except httptools.HttpParserError as failure:
            if self._parser.get_method() == b"PRI":
                # The preface of HTTP/2, from a client that takes HTTP/2 for granted. The parser fails on it
                # before the head is complete.
                require_version(self._parser.get_http_version())
            raise _refusal_of(failure) from failure
        if self.unframed_bytes > HEAD_BYTES_MAX:
            raise _too_large_head(self._target)

    def _read_head_again(self) -> None:
        head, self._repeated = self._repeated, None
        assert head is not None, "the parser stops only after such heads"
        self._parser = _new_parser(self)
        self._state.happened(Event.HEAD_AGAIN)
        self._parser.feed_data(head.to_bytes())

    # --- what the parser calls -----------------------------------------------------------------

    def on_message_begin(self) -> None:
        """A request begins."""
        self._state.happened(Event.BEGUN)
        self._target = b""
        self._headers = []

    def on_url(self, part: bytes) -> None:
        """A part of the target."""
        self._target += part

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header, or a trailer after a chunked body. Trailers are ignored."""
        self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        """The head is complete: check it and pass it on."""
        head = self._checked_head()
        self._headers = []
        self.unframed_bytes = 0
        if self._parser.should_upgrade() and not self._opens_websocket(head):
            headers = [header for header in head.headers if header[0] != b"upgrade"]
            self._repeated = head._replace(headers=headers)
            return
        self._state.happened(Event.HEAD_COMPLETE)
        self.head_count += 1
        self.body_bytes = 0
        if self._handshake is None:
            self._sink.head_received(head)

    def on_body(self, piece: bytes) -> None:
        """A piece of the body."""
        self.unframed_bytes = 0
        self.body_bytes += len(piece)
        self._sink.body_received(piece)

    def on_message_complete(self) -> None:
        """The request is complete."""
        if self._repeated is not None:
            return
        self._state.happened(Event.COMPLETE)
        if self._handshake is None:
            self._sink.request_received()

    def _checked_head(self) -> RequestHead:
        """Raises `ProtocolRefusal`."""
        headers, parser = self._headers, self._parser
        if len(self._target) > URL_BYTES_MAX or len(headers) > HEADERS_MAX:
            raise _too_large_head(self._target)
        # `unframed_bytes` does not count the part of a head that began in the middle of a read.
        if _size_of(self._target, headers) > HEAD_BYTES_MAX:
            raise _too_large_head(self._target)
        method, version = parser.get_method(), parser.get_http_version()
        require_sound_head(method, version, headers)
        target = self._target = origin_form(method, self._target, headers)
        return RequestHead(method, target, version, headers, version != "1.0" and parser.should_keep_alive())

    def _opens_websocket(self, head: RequestHead) -> bool:
        """Return whether the protocol changes with this request: never while an earlier one has no answer.

        Raises `ProtocolRefusal` if the handshake is not valid.
        """
        if self._state.answering is not Answering.FREE or not opens_websocket(head):
            return False
        require_handshake(head)
        self._handshake = head
        return True


def _new_parser(reader: RequestReader) -> httptools.HttpRequestParser:
    parser = httptools.HttpRequestParser(reader)
    # A client may send further requests after one that says `Connection: close`; they are not answered.
    parser.set_dangerous_leniencies(lenient_data_after_close=True)
    return parser


def _refusal_of(failure: httptools.HttpParserError) -> ProtocolRefusal:
    """Return the refusal for a failure of the parser, or of a method that the parser called."""
    # The parser reports only that a method failed; the exception of the method is the context.
    cause = failure.__context__ if isinstance(failure, httptools.HttpParserCallbackError) else failure
    if isinstance(cause, ProtocolRefusal):
        return cause
    if isinstance(cause, UnicodeError | httptools.HttpParserError):
        return ProtocolRefusal(HttpCode.BAD_REQUEST, f"the request is not valid HTTP: {cause}")
    _logger.error("request_failed", exc_info=cause)
    return ProtocolRefusal(HttpCode.INTERNAL, DEFECT)


def _too_large_head(target: bytes) -> ProtocolRefusal:
    if len(target) > URL_BYTES_MAX:
        return ProtocolRefusal(HttpCode.URL_TOO_LONG, f"a target may take {URL_BYTES_MAX} bytes at most")
    return ProtocolRefusal(
        HttpCode.HEAD_TOO_LARGE,
        f"a head may take {HEAD_BYTES_MAX} bytes and {HEADERS_MAX} lines at most, a trailer as many",
    )


def _size_of(target: bytes, headers: Headers) -> int:
    return len(target) + sum(map(len, chain.from_iterable(headers))) + len(b": \r\n") * len(headers)
