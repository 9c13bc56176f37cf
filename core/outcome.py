"""The outcome of one execution: the reply, the effects, the wake-ups, and what a blocking read waits for.

This module holds data only; `core.waiters` matches wake-ups with waiting readers.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from msgspec import Struct

from tailrace.core.commands import Command
from tailrace.core.effects import Effect
from tailrace.core.replies import Reply


class Signal(Enum):
    """Why waiting readers of a key should run their command again (rules 41 to 45)."""

    DATA = "data"
    """Entries were appended, an entry was nacked, or held entries of a group became ready."""
    GONE = "gone"
    """The stream or the group was deleted. Group readers get NOGROUP; plain readers continue to wait."""


class WakeUp(Struct, frozen=True, gc=False):
    """A key whose waiting readers should run their command again."""

    key: bytes | None
    """The key; None: every key (a flush)."""
    signal: Signal = Signal.DATA
    """What happened to the key."""
    group: bytes | None = None
    """Only readers of this group are concerned; None: readers of all groups, and with DATA plain readers
    too."""
    most: int | None = None
    """How many of these readers to wake, in order of arrival; None: all. The read of a woken one that leaves
    entries for others has a wake-up for the next."""


class Wait(Struct, frozen=True):
    """What a blocking read that found nothing waits for."""

    keys: tuple[bytes, ...]
    """The keys of the read."""
    group: bytes | None
    """The group of the read; None: a plain read."""
    until_ms: int | None
    """Unix time at which the wait ends with an empty reply; None: no limit."""
    claim_at_ms: int | None
    """Unix time at which the first pending entry can be claimed; None without CLAIM, or if no entry is
    pending (rule 41)."""
    is_behind: bool = False
    """Whether the filter of a group has further entries to examine: run the command again soon, after others.
    Then `keys` is empty, because new entries need not wake the read. Also set for a read that does not
    block."""
    is_gathering: bool = False
    """Whether the read may leave entries that it finds, because they are too few. It does not count among the
    readers that a `WakeUp` with `most` wakes."""


class Outcome(Struct, frozen=True, gc=False):
    """The result of one command, or of all commands of a transaction."""

    reply: Reply
    """The reply; an empty `ReadReply` if `wait` is set. None for several commands, which return their replies
    apart."""
    effects: Sequence[Effect] = ()
    """What changed, in order; already applied to the keyspace."""
    wake_ups: Sequence[WakeUp] = ()
    """The keys whose waiting readers should run their command again, in order; a key may repeat."""
    wait: Wait | None = None
    """Set if the command is a blocking read that found nothing."""
    retry: Command | None = None
    """Set with `wait`: the command to run again, with ``$`` and ``+`` resolved to ids and with its
    deadline."""
