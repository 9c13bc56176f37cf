"""The server's first frame: version, subprotocol and limits.

It owns which limits the frame shows. It never sends the frame.
"""

from __future__ import annotations

from typing import Final

from tailrace.api import websocket_limits as limits
from tailrace.api.websocket.codecs import Codec

SHOWN_LIMITS: Final = (
    "frame_bytes_max",
    "requests_per_frame_max",
    "subscriptions_max",
    "watched_streams_max",
    "filter_fields_max",
    "filter_values_max",
    "credit_max",
    "push_entries_max",
    "push_bytes_max",
    "output_bytes_max",
    "reply_bytes_max",
)
"""The members of `api.websocket_limits` that the server's first frame shows."""


def greeting(codec: Codec, version: str) -> bytes:
    """Return the server's first frame."""
    shown = {name: getattr(limits, name.upper()) for name in SHOWN_LIMITS}
    return codec.encode({"hello": {"version": version, "subprotocol": codec.subprotocol, "limits": shown}})
