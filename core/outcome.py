"""What one execution gives back: the reply, what changed, whom it wakes, and what it would wait for."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from msgspec import Struct

from tailrace.core.commands import Command
from tailrace.core.effects import Effect
from tailrace.core.replies import Reply


class Signal(Enum):
    """Why a key's waiting readers should look again (rules 41 to 45)."""

    DATA = "data"
    """Entries were appended, or one was nacked: any reader of the key."""
    GONE = "gone"
    """The stream or the group is gone: group readers are told NOGROUP, plain readers wait on."""


class WakeUp(Struct, frozen=True, gc=False):
    """A key that became ready, None for every key; `group` None concerns all readers, else the readers of
    that group."""

    key: bytes | None
    signal: Signal
    group: bytes | None = None


class Wait(Struct, frozen=True):
    """A read found nothing and was asked to block; `command` on the outcome is what to run again.

    `until_ms`: when to answer nil, None for never. `claim_at_ms`: the earliest time at which one of
    its pending entries can be claimed, None without CLAIM (rule 41). `group` None: a plain read.
    """

    keys: tuple[bytes, ...]
    group: bytes | None
    until_ms: int | None
    claim_at_ms: int | None


class Outcome(Struct, frozen=True, gc=False):
    """`reply` is nil-like when `wait` is set; `retry` is then the command with ``$`` and ``+`` resolved."""

    reply: Reply
    effects: Sequence[Effect] = ()
    wake_ups: Sequence[WakeUp] = ()
    wait: Wait | None = None
    retry: Command | None = None
