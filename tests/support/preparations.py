"""States of the example application in which `tests.support.provocations` sends a request that fails.

Owns how each state is made, directly in the store or the engine; sends no request.
"""

from __future__ import annotations

from tailrace.api.ports import StoreUnavailable
from tailrace.core.commands import (
    ConfigureGroup,
    NackMode,
    NegativeAcknowledge,
    SetStreamPosition,
    Trim,
    TrimStream,
)
from tailrace.core.effects import AppendRemembered
from tailrace.core.limits import EPOCH_KEYS_MAX, PENDING_LOOKS_MAX
from tailrace.core.stream_id import MAX_ID, make_id
from tests.support.api_client import ApiClient


def remove_keyspace(api: ApiClient) -> None:
    """Break the engine, so that every command has an unexpected exception."""
    del api.store.engine.keyspace


def close_store(api: ApiClient) -> None:
    """Make the store refuse requests, as when the server shuts down."""
    api.store.closed_by = StoreUnavailable("the server is shutting down", retry_after_s=1)


def trim_race(api: ApiClient) -> None:
    """Trim the race to its last entry."""
    api.run(TrimStream(b"race:france", Trim(max_length=1)))


def begin_epoch(api: ApiClient) -> None:
    """Record an append of the producer of the examples."""
    made = AppendRemembered(b"race:france", b"timing-gate-1", b"1", (1,), b"other", 1, b"4 partitions")
    made.apply(api.store.engine.keyspace)


def fill_epoch(api: ApiClient) -> None:
    """Record as many idempotency keys as one epoch allows."""
    for number in range(EPOCH_KEYS_MAX):
        key = str(number).encode()
        made = AppendRemembered(b"race:france", b"timing-gate-1", key, (1,), None, 1, None)
        made.apply(api.store.engine.keyspace)


def crowd_pending(api: ApiClient) -> None:
    """Make many entries pending of which one in 500 is idle: a part without one is not examined."""
    group = api.store.engine.keyspace.streams[b"race:france"].groups[b"judges"]
    alice, now_ms = group.consumers[b"alice"], api.store.now_ms
    for first in range(1, PENDING_LOOKS_MAX + 2_000, 500):
        group.pending.deliver((first,), alice, 0)
        group.pending.deliver(range(first + 1, first + 500), alice, now_ms)


def bury_entry(api: ApiClient) -> None:
    """Make the first entry of the race a dead letter of the judges."""
    ids = (make_id(1692632086370, 0),)
    api.run(ConfigureGroup(b"race:france", b"judges", 5, b"race:france:dead"))
    api.run(NegativeAcknowledge(b"race:france", b"judges", NackMode.FATAL, ids))


def bury_entry_and_exhaust_ids(api: ApiClient) -> None:
    """Do the same, and give the race the greatest id."""
    bury_entry(api)
    api.run(SetStreamPosition(b"race:france", MAX_ID))
