"""The supported subprotocols, by name."""

from __future__ import annotations

from typing import Final

from tailrace.api.websocket.codecs import Codec
from tailrace.api.websocket.json_codec import JsonCodec
from tailrace.api.websocket.msgpack_codec import MsgpackCodec

DEFAULT_CODEC: Final[Codec] = JsonCodec()
"""The subprotocol for clients that offer none."""

CODECS: Final[dict[str, Codec]] = {codec.subprotocol: codec for codec in (DEFAULT_CODEC, MsgpackCodec())}
