"""All connections of the server: their number in total and per address, and the check of their deadlines.

This module owns the counts and the sweep. A connection needs no timer: the sweep calls each connection about
once a second. It calls a tenth of them every tenth of a second, so that ten thousand connections do not block
the event loop. Each connection knows its own deadlines (`TimedConnection`) and gets the seconds that have
passed. If the server itself was blocked, at most `PASSED_S_MAX` seconds count, because the server has not yet
read the data that arrived in that time.

A connection above the limits gets a response with the reason, and stays open for a moment so that the client
can read it. The server keeps a few such connections open in addition to the limit. It cuts further ones
without a response.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address
from itertools import count
from typing import Final, NamedTuple, Protocol

from tailrace.api.server_limits import ServerLimits
from tailrace.app.process_tuning import REFUSED_MAX
from tailrace.core.limits import KIB, MIB

PORTIONS: Final = 10
"""The number of parts in which the connections are swept, one after another within a second."""

ROUND_S: Final = 1.0
SWEEP_PERIOD_S: Final = ROUND_S / PORTIONS

PASSED_S_MAX: Final = 2.0
"""The most seconds that count between two checks of a connection."""

SMALL_BODY_BYTES: Final = 64 * KIB
"""Up to this size, a body or message in memory does not count towards the limit for all connections."""

_NETWORK_BITS: Final = 64


class TimedConnection(Protocol):
    """A connection that knows its own deadlines."""

    def check_deadlines(self, passed_s: float) -> None:
        """End the connection if a deadline has passed. `passed_s`: seconds since the last call, about 1."""
        ...


class Excess(NamedTuple):
    """Why a connection is not served. `is_mute`: it is closed without a response."""

    detail: str
    is_mute: bool


class Connections:
    """The connections of one server. `cuts`: the number of connections that the server ended, by reason."""

    def __init__(
        self,
        limits: ServerLimits,
        clock_s: Callable[[], float] = time.monotonic,
        refused_max: int = REFUSED_MAX,
    ) -> None:
        self.limits = limits
        self._refused_max = refused_max
        self._clock_s = clock_s
        self.cuts: Counter[str] = Counter()
        self.held_bytes = 0
        self._held_bytes_max = limits.bodies_mb * MIB
        self._peers: Counter[str] = Counter()
        self._refused: set[TimedConnection] = set()
        self._portions: list[dict[TimedConnection, str]] = [{} for _ in range(PORTIONS)]
        now_s = clock_s()
        self._swept_at_s = [now_s - number * SWEEP_PERIOD_S for number in range(PORTIONS)]
        self._portion_of: dict[TimedConnection, dict[TimedConnection, str]] = {}
        self._turns = count()

    def __len__(self) -> int:
        """Return the number of connections that are served."""
        return len(self._portion_of) - len(self._refused)

    def enter(self, connection: TimedConnection, host: str) -> Excess | None:
        """Count a connection from the address `host`. Return the reason if the limit is exceeded. O(1)."""
        peer = network_of(host)
        detail = self._excess(peer)
        if detail is None:
            self._peers[peer] += 1
        else:
            self.cuts["too_many_connections"] += 1
            if len(self._refused) >= self._refused_max:
                return Excess(detail, is_mute=True)
            self._refused.add(connection)
        portion = self._portions[next(self._turns) % PORTIONS]
        portion[connection] = peer
        self._portion_of[connection] = portion
        return None if detail is None else Excess(detail, is_mute=False)

    def _excess(self, peer: str) -> str | None:
        limits = self.limits
        if len(self) >= limits.connections_max:
            return f"{limits.connections_max} connections are open, the server's limit; try again later"
        if 0 < limits.connections_per_peer_max <= self._peers[peer]:
            most = limits.connections_per_peer_max
            return f"{most} connections are open from this address, the limit per address; close some"
        return None

    def replace(self, connection: TimedConnection, successor: TimedConnection) -> None:
        """Count `successor` in place of `connection`, which became a WebSocket."""
        portion = self._portion_of.pop(connection)
        portion[successor] = portion.pop(connection)
        self._portion_of[successor] = portion

    def leave(self, connection: TimedConnection) -> None:
        """Remove a connection that has ended. Does nothing if it was never counted."""
        portion = self._portion_of.pop(connection, None)
        if portion is None:
            return
        peer = portion.pop(connection)
        if connection in self._refused:
            self._refused.discard(connection)
            return
        self._peers[peer] -= 1
        if not self._peers[peer]:
            del self._peers[peer]

    def sweep(self) -> None:
        """Call the connections that were called a second ago. Call this every `SWEEP_PERIOD_S`."""
        now_s = self._clock_s()
        for number, portion in enumerate(self._portions):
            passed_s = now_s - self._swept_at_s[number]
            if passed_s >= ROUND_S:
                self._swept_at_s[number] = now_s
                for connection in tuple(portion):
                    connection.check_deadlines(min(passed_s, PASSED_S_MAX))

    # --- the bodies in memory, of all connections ----------------------------------------------

    def hold(self, size: int) -> bool:
        """Count `size` more bytes of bodies. If that exceeds the limit, return False and count none."""
        if self.held_bytes + size > self._held_bytes_max:
            return False
        self.held_bytes += size
        return True

    def release(self, size: int) -> None:
        """Count `size` bytes less."""
        self.held_bytes -= size


class HeldMemory:
    """The memory for the body or message of one connection, which counts towards the limit for all."""

    __slots__ = ("_connections", "held_bytes")

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self.held_bytes = 0

    def hold(self, size: int) -> bool:
        """Count `size` more bytes. Return False, and count none, if this exceeds the limit for all."""
        if not self._connections.hold(size):
            return False
        self.held_bytes += size
        return True

    def release(self) -> None:
        """Count none of these bytes any more."""
        self._connections.release(self.held_bytes)
        self.held_bytes = 0


def network_of(host: str) -> str:
    """Return the address itself, or the /64 network of an IPv6 address: one client may own all of it."""
    if ":" not in host:
        return host
    address = ip_address(host.partition("%")[0])
    assert isinstance(address, IPv6Address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(IPv6Address(int(address) >> _NETWORK_BITS << _NETWORK_BITS))
