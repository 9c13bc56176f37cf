"""The execution of one command or transaction: its instant, its changes so far, its wake-ups.

A handler reads `keyspace`, decides, and calls `do` for each change. It may raise only before its first `do`,
so that a refused command has no effect. This module does not depend on any command.
"""

from __future__ import annotations

from typing import TypeVar

from msgspec import Struct

from tailrace.core.bounds.reply_room import ReplyRoom
from tailrace.core.commands import Command, Malformed, Special
from tailrace.core.effects import Effect
from tailrace.core.keyspace import Keyspace
from tailrace.core.limits import FILTER_TURN_ENTRIES_MAX
from tailrace.core.outcome import Signal, Wait, WakeUp
from tailrace.core.stream import Stream
from tailrace.core.stream_id import StreamId

T = TypeVar("T")


class Execution(Struct, gc=False):
    """The state that handlers share while one command, or all commands of a transaction, run."""

    keyspace: Keyspace
    """The keyspace; handlers read it and change it through `do` only."""
    now_ms: int
    """The instant of the command in Unix milliseconds, the same for a whole transaction (rule 5)."""
    effects: list[Effect] = []
    """The effects carried out so far, in order."""
    wake_ups: list[WakeUp] = []
    """The wake-ups so far, in order."""
    wait: Wait | None = None
    """What the command waits for: set by a blocking read that found nothing."""
    filter_entries_left: int = FILTER_TURN_ENTRIES_MAX
    """How many entries the filters of groups may still examine."""
    copied_parts: int = 0
    """The parts that COPY has copied so far, bounded by `core.limits.COPY_PARTS_MAX`."""
    retry: Command | None = None
    """The command to run again after the wait; set with `wait`."""
    reply_room: ReplyRoom | None = None
    """The room that is left for the replies of the request; the first call of `room` sets it."""

    def room(self, size_bytes: int | None = None) -> ReplyRoom:
        """Return the request's reply room. The first call makes it, with `size_bytes` if given."""
        if self.reply_room is None:
            self.reply_room = ReplyRoom() if size_bytes is None else ReplyRoom(size_bytes)
        return self.reply_room

    def do(self, effect: Effect) -> None:
        """Apply `effect` to the keyspace and record it for the journal. Cannot fail."""
        effect.apply(self.keyspace)
        self.effects.append(effect)

    def wake(self, key: bytes | None, signal: Signal = Signal.DATA, group: bytes | None = None) -> None:
        """Wake the waiting readers of `key`, or of every key for None, once the execution is done (rule
        44)."""
        self.wake_ups.append(WakeUp(key, signal, group))

    def wake_freed(self) -> None:
        """Wake readers of groups with an order by key that have entries for them: one for each entry that is
        ready, and at least one. O(such groups)."""
        for key, name in sorted(self.keyspace.freed):
            group = self.keyspace.group(key, name)
            ready_count = 0 if group is None else group.ready_count
            self.wake_ups.append(WakeUp(key, Signal.DATA, name, max(ready_count, 1)))
        self.keyspace.freed.clear()

    def stream(self, key: bytes) -> Stream | None:
        """Return the stream under `key`, or None. O(1)."""
        stream: Stream | None = self.keyspace.streams.get(key)
        return stream

    def incarnation(self, stream: Stream | None) -> str | None:
        """Return the incarnation of `stream`, None for a missing one. O(1)."""
        return None if stream is None else self.keyspace.incarnation_of(stream)


def parsed_position(argument: StreamId | Special | Malformed) -> StreamId | Special:
    """Return the position; raise the error of a malformed one."""
    if isinstance(argument, Malformed):
        raise argument.error
    return argument


def parsed(argument: T | Malformed) -> T:
    """Return the argument; raise the error of a malformed one. Call it at the place where Redis detects the
    error."""
    if isinstance(argument, Malformed):
        raise argument.error
    return argument
