"""Random programs of WebSocket sessions: what several connections send, in which pieces, and how each ends.

A program is data: the same seed makes the same program. No message depends on a reply. This module never
sends a piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Final

from tests.fuzz.http_bytes import Names
from tests.fuzz.http_programs import Piece, pieces_of
from tests.fuzz.ws_bytes import JSON, MSGPACK, Message, Opcode, WsRequest, frame, in_frames, opcode_of, packed
from tests.fuzz.ws_requests import Requests

CONNECTIONS: Final = (1, 2, 3, 4)
BURSTS_MAX: Final = 5
BURST_MESSAGES: Final = (1, 1, 2, 2, 3, 4, 8)
ARRAY_REQUESTS: Final = (1, 2, 3, 5, 10, 40)
LAZY_SHARE: Final = 0.2
EARLY_SHARE: Final = 0.2


class WsEnding(StrEnum):
    """How a connection ends."""

    FLUSHED = "flushed"
    """The client closes the connection after all replies, and all pushes that its subscriptions can have."""
    CLOSED = "closed"
    """The client sends a close frame after the last message, and reads on."""
    LAST = "last"
    """The last message makes the server close the connection."""
    HALF_CLOSED = "half closed"
    """The client ends its side after the last piece, and reads on."""
    RESET = "reset"
    """The client resets the connection after the last piece, and reads no more."""


_ENDINGS: Final = {
    WsEnding.FLUSHED: 45,
    WsEnding.CLOSED: 15,
    WsEnding.LAST: 15,
    WsEnding.HALF_CLOSED: 15,
    WsEnding.RESET: 10,
}


@dataclass(frozen=True)
class Session:
    """What one connection does. `early`: what it sends with the handshake. `is_lazy`: it reads nothing before
    it has sent everything."""

    names: Names
    subprotocol: str
    messages: Sequence[Message]
    early: bytes
    pieces: Sequence[Piece]
    ending: WsEnding
    is_lazy: bool

    @property
    def requests(self) -> list[WsRequest]:
        return [request for message in self.messages for request in message.requests]

    @property
    def may_end_early(self) -> bool:
        """Whether the last messages may have no replies."""
        return self.ending is not WsEnding.FLUSHED

    def __str__(self) -> str:
        kinds = " | ".join(message.kind for message in self.messages)
        pieces = " ".join(map(str, self.pieces))
        lazy = ", lazy" if self.is_lazy else ""
        told = f"{kinds}; {len(self.early)} early, bytes@replies before: {pieces}; {self.ending}{lazy}"
        return f"{self.names.prefix} {self.subprotocol}: {told}"


@dataclass(frozen=True)
class WsProgram:
    """What all connections do at the same time. `shared`: the key of the stream that they share."""

    seed: int
    shared: str
    token: str
    sessions: Sequence[Session]

    def __str__(self) -> str:
        return "\n".join((f"program {self.seed}", *map(str, self.sessions)))


def ws_program_of(seed: int, server: str, token: str) -> WsProgram:
    """Return the program of a seed. Its keys have the name of the server under test, and the seed."""
    chance = Random(f"ws {seed}")
    prefix = f"ws-{server}{seed}-"
    shared = f"{prefix}shared"
    count = chance.choice(CONNECTIONS)
    sessions = [_session(chance, Names(f"{prefix}{number}", shared, token)) for number in range(count)]
    return WsProgram(seed, shared, token, sessions)


def _session(chance: Random, names: Names) -> Session:
    made, subprotocol = Requests(chance, names), chance.choice((JSON, JSON, MSGPACK))
    messages, pieces = list[Message](), list[Piece]()
    is_lazy = chance.random() < LAZY_SHARE
    [ending] = chance.choices(list(_ENDINGS), list(_ENDINGS.values()))
    for request in made.prepare():
        messages.append(_message(chance, subprotocol, [request], is_array=False))
        pieces.append(Piece(messages[-1].raw, 0))
    for left in reversed(range(chance.randint(1, BURSTS_MAX))):
        first = len(messages)
        messages += [_some(chance, made, subprotocol) for _ in range(chance.choice(BURST_MESSAGES))]
        raws, rest = None, b""
        if not left and ending is WsEnding.LAST:
            messages.append(_last(chance, made, subprotocol))
        elif not left and ending is WsEnding.CLOSED:
            messages.append(Message("close", frame(Opcode.CLOSE, b"\x03\xe8"), ends_with=1000))
        elif not left and ending in {WsEnding.HALF_CLOSED, WsEnding.RESET} and chance.random() < 0.3:
            raws = [message.raw for message in messages[first:]]
            part = _some(chance, made, subprotocol)
            rest = part.raw[: chance.randrange(1, len(part.raw))]
            messages.append(Message("part", rest, pings=part.pings))
        raws = raws or [message.raw for message in messages[first:]]
        pieces += pieces_of(chance, raws, first, rest)
    if is_lazy:
        pieces = [Piece(piece.data, 0, piece.is_apart) for piece in pieces]
    early = pieces.pop(0).data if chance.random() < EARLY_SHARE else b""
    return Session(names, subprotocol, messages, early, pieces, ending, is_lazy)


def _some(chance: Random, made: Requests, subprotocol: str) -> Message:
    form = chance.random()
    if form < 0.02:
        return _message(chance, subprotocol, [WsRequest("empty array", [])], is_array=False)
    if form < 0.5:
        return _message(chance, subprotocol, made.some(chance.choice(ARRAY_REQUESTS)), is_array=True)
    [request] = made.some(1)
    return _message(chance, subprotocol, [request], is_array=False)


def _message(chance: Random, subprotocol: str, requests: Sequence[WsRequest], *, is_array: bool) -> Message:
    content = [request.body for request in requests] if is_array else requests[0].body
    raw, pings = in_frames(chance, opcode_of(subprotocol), packed(content, subprotocol))
    kinds = " ".join(request.kind for request in requests)
    return Message(f"[{kinds}]" if is_array else kinds, raw, tuple(requests), is_array, pings=pings)


def _last(chance: Random, made: Requests, subprotocol: str) -> Message:
    """Return a message after which the server closes the connection."""
    own = opcode_of(subprotocol)
    other = Opcode.TEXT if own is Opcode.BINARY else Opcode.BINARY
    good = packed(made.append().body, subprotocol)
    messages: list[tuple[str, bytes, int]] = [
        ("cut content", frame(own, good[:-1]), 1007),
        ("other opcode", frame(other, b"{}"), 1003),
        ("not UTF-8", frame(Opcode.TEXT, b'{"\xff":1}'), 1007),
        ("unmasked", frame(own, good)[:1] + bytes([1, 65]), 1002),
        ("reserved bit", b"\xc1" + frame(own, good)[1:], 1002),
        ("opcode 3", frame(3, good), 1002),
        ("long ping", frame(Opcode.PING, b"x" * 126), 1002),
        ("ping in parts", frame(Opcode.PING, b"x", is_last=False), 1002),
        ("continuation", frame(Opcode.CONTINUATION, good), 1002),
        ("message in message", frame(own, good, is_last=False) + frame(own, good), 1002),
        ("short close", frame(Opcode.CLOSE, b"x"), 1002),
        ("bad close code", frame(Opcode.CLOSE, b"\x03\xed"), 1002),
    ]
    kind, raw, code = chance.choice(messages)
    return Message(kind, raw, ends_with=code)
