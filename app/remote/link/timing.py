"""Times and bounds of the link, each with its reason. Only values."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Final

NODE_TIMEOUT_SHARE: Final = 0.6
"""An answer is awaited for this share of the Cluster's node time-out, so a hung master is noticed before its
replica takes over."""

ANSWER_LEAST_S: Final = 0.5
"""A shorter wait would cut connections of nodes that only run a slow command."""


@dataclass(frozen=True)
class Timing:
    """All times in seconds.

    `connect_s`: for a connection with its handshake. `answer_s`: how long a connection may be silent while a
    command waits for its reply; then it is dropped. `ping_every_s`: a connection that is idle this long is
    probed. `retry_for_s`: how long a command is retried after its first failure. `backoff_least_s`,
    `backoff_most_s`: pauses between tries; each is drawn at random up to a bound that doubles.
    `refresh_every_s`: how often the list of nodes is read again without a reason. `confirm_s`: how long
    replicas may take to confirm a write. `reread_least_s`, `reread_most_s`: how often a waiting reader reads
    again without a reason.
    """

    connect_s: float = 2.0
    answer_s: float = 5.0
    ping_every_s: float = 2.0
    retry_for_s: float = 5.0
    backoff_least_s: float = 0.02
    backoff_most_s: float = 0.5
    refresh_every_s: float = 10.0
    confirm_s: float = 1.0
    reread_least_s: float = 5.0
    reread_most_s: float = 10.0

    def below(self, node_timeout_s: float) -> Timing:
        """Return times that suit a Cluster with this node time-out."""
        answer_s = max(ANSWER_LEAST_S, min(self.answer_s, NODE_TIMEOUT_SHARE * node_timeout_s))
        return replace(self, answer_s=answer_s, ping_every_s=min(self.ping_every_s, answer_s / 2))


def spread(bound_s: float) -> float:
    """Return a random time between half of a bound and the bound, so that many clients do not act at once."""
    return random.uniform(bound_s / 2, bound_s)  # noqa: S311 - it spreads load and is no secret


UNSENT_BYTES_MAX: Final = 4 << 20
"""Commands that wait for a connection: above this, callers wait for room before they add another one."""

UNSENT_COMMANDS_MAX: Final = 10_000
"""The same for their number."""

WRITE_BYTES: Final = 1 << 16
"""How much is handed to the socket at once; the rest stays where it is known to be unsent."""
