"""When consumers count as seen, for groups whose consumers expire. This module holds one rule and its data.

A consumer is seen when it reads, claims or extends (`Consumer.seen_at_ms`), or while it waits. Between two
looks of the server it may have been impossible to be seen: the server was down or paused, or its clock
stepped. So every consumer also counts as seen at `since_ms`, the end of the last such time.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from tailrace.core.pending.consumer import Consumer

EXPIRY_LOOKS_MAX: Final = 10_000
"""Consumers that one step of their expiry examines: about 0.005 s of the writer's time."""

EXPIRED_ENTRIES_MAX: Final = 2_000
"""Entries that one step of the expiry takes from consumers: about 0.005 s of the writer's time. The next step
takes the following ones, and the consumer is deleted with the last of them."""


class Presence(Struct, frozen=True, gc=False):
    """One look at the consumers of all groups."""

    since_ms: int = 0
    """Unix time at which all consumers count as seen."""
    looked_at_ms: int = 0
    """Unix time of the look."""
    is_behind: bool = False
    """Whether the look has not reached all groups yet."""

    def is_expired(self, consumer: Consumer, expiry_ms: int, now_ms: int) -> bool:
        """Return whether `consumer` was not seen for `expiry_ms` before the look. A time after `now_ms` does
        not count: the clock stepped back after it."""
        seen_at_ms = consumer.seen_at_ms if consumer.seen_at_ms <= now_ms else self.since_ms
        return self.looked_at_ms - max(seen_at_ms, self.since_ms) >= expiry_ms
