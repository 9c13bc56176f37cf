"""One command on its way through the engine: the instant, what it changed so far, whom it wakes.

A handler looks at `keyspace`, decides, and calls `do` for each change. Until the first `do` it may
raise; from then on it must not, so that a refused command has no effect at all.
"""

from __future__ import annotations

from typing import TypeVar

from msgspec import Struct

from tailrace.core.apply import APPLIERS
from tailrace.core.bounds.reply_room import ReplyRoom
from tailrace.core.commands import Command, Malformed, Special
from tailrace.core.effects import Effect
from tailrace.core.keyspace import Keyspace
from tailrace.core.outcome import Signal, Wait, WakeUp
from tailrace.core.stream import Stream
from tailrace.core.stream_id import StreamId

T = TypeVar("T")


class Execution(Struct, gc=False):
    """`now_ms` stands still while the command (or the whole transaction) runs (rule 5). `reply_room`: what
    the request's replies may still take; made when a command first asks for it."""

    keyspace: Keyspace
    now_ms: int
    effects: list[Effect] = []
    wake_ups: list[WakeUp] = []
    wait: Wait | None = None
    copied_parts: int = 0
    """What COPY has copied so far, in the parts that `core.limits` bounds."""
    retry: Command | None = None
    reply_room: ReplyRoom | None = None

    def room(self, size_bytes: int | None = None) -> ReplyRoom:
        """What the reply may take: the request's room, or a new one, of `size_bytes` if given."""
        if self.reply_room is None:
            self.reply_room = ReplyRoom() if size_bytes is None else ReplyRoom(size_bytes)
        return self.reply_room

    def do(self, effect: Effect) -> None:
        """Carry out `effect`, and have it journalled."""
        APPLIERS[type(effect)](self.keyspace, effect)
        self.effects.append(effect)

    def wake(self, key: bytes | None, signal: Signal = Signal.DATA, group: bytes | None = None) -> None:
        """Have the waiting readers of `key`, None for every key, look again once the command is done (rule
        44)."""
        self.wake_ups.append(WakeUp(key, signal, group))

    def stream(self, key: bytes) -> Stream | None:
        """The stream of that name, or None."""
        stream: Stream | None = self.keyspace.streams.get(key)
        return stream


def parsed_position(argument: StreamId | Special | Malformed) -> StreamId | Special:
    """The position, or the error that parsing it gave."""
    if isinstance(argument, Malformed):
        raise argument.error
    return argument


def parsed(argument: T | Malformed) -> T:
    """The argument, or the error that parsing it gave, now that Redis would find it."""
    if isinstance(argument, Malformed):
        raise argument.error
    return argument
