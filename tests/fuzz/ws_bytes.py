"""The bytes of the WebSocket messages that fuzzed programs send, and the frames that the server sends.

This module owns the form of frames. It never decides what is requested (`ws_requests`), and never sends.
"""

from __future__ import annotations

import asyncio
import json
import struct
from dataclasses import dataclass
from enum import IntEnum
from random import Random
from typing import Any, Final, NamedTuple

import msgspec

JSON: Final = "tailrace.v1.json"
MSGPACK: Final = "tailrace.v1.msgpack"
FRAGMENT_SHARE: Final = 0.25
FRAGMENTS_MAX: Final = 4
PING_SHARE: Final = 0.3


class Opcode(IntEnum):
    """The kinds of frames."""

    CONTINUATION = 0
    TEXT = 1
    BINARY = 2
    CLOSE = 8
    PING = 9
    PONG = 10


class Frame(NamedTuple):
    """A frame of the server."""

    opcode: int
    payload: bytes


@dataclass(frozen=True)
class WsRequest:
    """One request of a message. `body`: what is sent, often an object. `key`: the stream that it names.
    `values`: those that it appends to that stream. `is_own`: its reply depends on nothing but the requests
    before, so that it is compared."""

    kind: str
    body: Any
    key: str = ""
    values: tuple[str, ...] = ()
    is_own: bool = True

    @property
    def op(self) -> object:
        return self.body.get("op") if isinstance(self.body, dict) else None

    @property
    def id(self) -> object:
        """The id of the reply: None for a request without a usable id."""
        value = self.body.get("id") if isinstance(self.body, dict) else None
        return value if isinstance(value, int | str) and not isinstance(value, bool) else None


@dataclass(frozen=True)
class Message:
    """What is sent as one message. `raw`: its frames. `ends_with`: the code with which the server closes the
    connection when it has received the message, None if it answers. `pings`: the payloads of its pings."""

    kind: str
    raw: bytes
    requests: tuple[WsRequest, ...] = ()
    is_array: bool = False
    ends_with: int | None = None
    pings: tuple[bytes, ...] = ()


def handshake(token: str, subprotocol: str) -> bytes:
    """Return an opening handshake."""
    lines = (
        "GET /v1/ws HTTP/1.1",
        "host: localhost",
        "upgrade: websocket",
        "connection: upgrade",
        "sec-websocket-version: 13",
        "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
        f"sec-websocket-protocol: {subprotocol}",
        f"authorization: Bearer {token}",
    )
    return "\r\n".join((*lines, "", "")).encode()


def packed(content: object, subprotocol: str) -> bytes:
    """Return the payload of a message."""
    if subprotocol == MSGPACK:
        return msgspec.msgpack.encode(content)
    return json.dumps(content, separators=(",", ":")).encode()


def unpacked(payload: bytes, subprotocol: str) -> Any:
    """Return the content of a message."""
    return msgspec.msgpack.decode(payload) if subprotocol == MSGPACK else json.loads(payload)


def opcode_of(subprotocol: str) -> Opcode:
    """Return the kind of frames that a subprotocol uses."""
    return Opcode.BINARY if subprotocol == MSGPACK else Opcode.TEXT


def frame(opcode: int, payload: bytes, mask: bytes = b"\1\2\3\4", *, is_last: bool = True) -> bytes:
    """Return the bytes of a frame of a client."""
    size = len(payload)
    head = bytes([opcode | (0x80 if is_last else 0)])
    if size < 126:
        head += bytes([size | 0x80])
    elif size < 1 << 16:
        head += bytes([126 | 0x80]) + struct.pack("!H", size)
    else:
        head += bytes([127 | 0x80]) + struct.pack("!Q", size)
    longer = (mask * (size // 4 + 1))[:size]
    masked = (int.from_bytes(payload, "big") ^ int.from_bytes(longer, "big")).to_bytes(size, "big")
    return head + mask + masked


def in_frames(chance: Random, opcode: Opcode, payload: bytes) -> tuple[bytes, tuple[bytes, ...]]:
    """Return the bytes of a message, often in fragments with pings around them, and the payloads of the
    pings."""
    cuts = [0, len(payload)]
    if chance.random() < FRAGMENT_SHARE:
        cuts += [chance.randint(0, len(payload)) for _ in range(chance.randint(1, FRAGMENTS_MAX))]
        cuts.sort()
    raw, pings, parts = b"", list[bytes](), len(cuts) - 1
    for number in range(parts):
        if chance.random() < PING_SHARE / parts:
            pings.append(chance.randbytes(chance.randint(0, 8)))
            raw += frame(Opcode.PING, pings[-1], chance.randbytes(4))
        if chance.random() < PING_SHARE / 10:
            raw += frame(Opcode.PONG, b"unasked", chance.randbytes(4))
        kind = Opcode.CONTINUATION if number else opcode
        part = payload[cuts[number] : cuts[number + 1]]
        raw += frame(kind, part, chance.randbytes(4), is_last=number == parts - 1)
    return raw, tuple(pings)


async def read_frame(reader: asyncio.StreamReader) -> Frame:
    """Read a frame of the server. Raises `IncompleteReadError` if the server has ended the connection."""
    first, second = await reader.readexactly(2)
    assert first & 0xF0 == 0x80, f"the server sends whole messages: {first:#x}"
    assert second < 128, "the server does not mask"
    size = second
    if size == 126:
        [size] = struct.unpack("!H", await reader.readexactly(2))
    elif size == 127:
        [size] = struct.unpack("!Q", await reader.readexactly(8))
    return Frame(first & 15, await reader.readexactly(size))
