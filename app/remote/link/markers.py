"""Payloads of the channel itself: the PING that probes a node, and marks in the order of replies.

They have no caller. They never carry a command of a user.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

from tailrace.app.remote.link.exchange import Exchange, packed

PING: Final = packed([b"PING"])


class Probe:
    """Takes the reply to a PING."""

    wants = 1

    def done(self, _reply: Any) -> None:
        """Any reply shows that the node answers."""

    def lost(self, _reason: str) -> None:
        """Do nothing: the owner of the connection handles the loss."""


class Marker(Exchange):
    """A place in the order of a channel: calls back when all before it were answered."""

    __slots__ = ("_call",)

    def __init__(self, call: Callable[[], None], loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(PING, slot=None, is_write=False, retry=lambda *_: None, future=loop.create_future())
        self._call = call

    def done(self, reply: Any) -> None:  # noqa: ARG002 - see `Exchange`
        """Everything before was answered."""
        self._call()

    def lost(self, reason: str) -> None:  # noqa: ARG002 - see `Exchange`
        """Call back after all earlier exchanges have failed."""
        self._call()

    def unsent(self, reason: str) -> None:  # noqa: ARG002 - see `Exchange`
        """All before were passed back."""
        self._call()
