"""The commands for producers that replay whole batches: what a stream remembers of a batch.

This module holds data only.
"""

from __future__ import annotations

from tailrace.core.commands.arguments import Command, Idempotency


class FindAppend(Command, frozen=True):
    """Find an append by its idempotency key, and append nothing. The reply is an `AppendReply` with the ids
    of that append, or None if the key is new. Redis has no such command."""

    key: bytes
    """The stream's key."""
    idempotency: Idempotency | None
    """The idempotency key, checked as for an append; an append without one is always new."""


class InfoProducer(Command, frozen=True):
    """Show the epochs of a producer. The reply is a list of `EpochInfo`. Redis has no such command."""

    key: bytes
    """The stream's key."""
    producer: bytes
    """The producer's name."""


class TakeOverEpoch(Command, frozen=True):
    """Give an epoch another layout, so that requests with the former one are refused from now on. The reply
    is None. Redis has no such command."""

    key: bytes
    """The stream's key."""
    producer: bytes
    """The producer's name."""
    epoch: int
    """The number of the epoch."""
    replaces: bytes
    """The layout that the epoch must have now."""
    layout: bytes
    """The new layout."""
    key_count: int
    """How many idempotency keys the epoch must have now: none is new since the client counted them."""
