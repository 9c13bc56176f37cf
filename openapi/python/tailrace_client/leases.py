"""The leases of the items that a consumer holds. `Consumer` extends them while the program works on them.

A lease is the time until other consumers may take an entry over. The server extends it only while the entry
is still pending for this consumer; otherwise the item is lost. This module also reports the items that are
lost by the reply to a settlement. It sends nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Container, Sequence
from typing import Any, Final, Generic, NamedTuple

from tailrace_client import group_calls
from tailrace_client.call import Call
from tailrace_client.consumer_state import (
    ConsumerState,
    Held,
    ItemT,
    Read,
    Settle,
    is_group_missing,
    requests_of,
)
from tailrace_client.errors import TailraceError
from tailrace_client.hooks import Hooking, Outcome

_log: Final = logging.getLogger("tailrace_client")


class Lease(NamedTuple, Generic[ItemT]):
    """A call that extends the leases of items of one stream, and returns the ids that the consumer owns."""

    call: Call[list[str]]
    items: list[ItemT]


def leases_of(state: ConsumerState[ItemT]) -> list[Lease[ItemT]]:
    """Return the calls that extend the leases of the held entries."""
    group, consumer = state.options.group, state.options.consumer
    return [
        Lease(group_calls.extend(key, group, consumer, [item.id for item in some]), some)
        for key, some in requests_of(list(state.held.values()))
    ]


def lost_of(state: ConsumerState[ItemT], lease: Lease[ItemT], kept: Container[str]) -> list[ItemT]:
    """Return the items of a lease that are lost, because their ids are not among those that were `kept`.
    Items that were settled since the request began are not lost."""
    return [item for item in lease.items if item.id not in kept and not item.is_leaving and state.holds(item)]


def lose(state: ConsumerState[Any], hooks: Hooking, items: Sequence[Held]) -> None:
    """Release and mark lost items, and report them."""
    for item in items:
        state.let_go(item)
        item.lose()
    hooks.lost(items)


def settled(state: ConsumerState[Any], hooks: Hooking, settle: Settle, count: int, outcome: Outcome) -> None:
    """Report a settlement whose reply says that `count` entries were pending. If a request names several
    items, the reply does not say which of them were lost."""
    items = [item for item in settle.items if not isinstance(item, Read)]
    if items and count == 0:
        lose(state, hooks, items)
        return
    if count < len(items):
        lost, stream = len(items) - count, items[0].stream
        _log.warning("lost %d of %d entries of %s before they were settled", lost, len(items), stream)
    hooks.settled(settle.items, outcome)


def kept_after(error: TailraceError, lease: Lease[ItemT]) -> list[str]:
    """Return the ids that the consumer owns, as far as it can know after a request that failed: none if the
    group is gone, else all."""
    if is_group_missing(error):
        return []
    _log.warning("leases were not extended: %s", error)
    return [item.id for item in lease.items]
