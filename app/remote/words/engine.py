"""The engine as the words see it: its capabilities and its function library.

A command that the engine lacks becomes a call of the library. If the library cannot run either, the command
is refused with ENGINE_LACKS_FEATURE.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any

import msgspec
from msgspec import Struct

from tailrace.app.remote.functions.call import Call
from tailrace.app.remote.functions.capabilities import Capabilities, Feature
from tailrace.app.remote.functions.library import Library
from tailrace.app.remote.inspection import Inspection
from tailrace.app.remote.words.ends import Ends
from tailrace.app.remote.words.plan import Plan, Words, last, value
from tailrace.core.errors import engine_lacks


class Configured:
    """The streams that may have settings, as far as this gateway knows (`app.remote.keys.registry`): `keys`
    with settings of groups, `retained` with a retention."""

    __slots__ = ("announced", "keys", "retained")

    def __init__(self) -> None:
        # How often this gateway has announced streams: a read of the registry may be older than that.
        self.announced = 0
        self.keys: AbstractSet[bytes] = frozenset()
        self.retained: AbstractSet[bytes] = frozenset()


class Engine(Struct, frozen=True):
    """One engine."""

    capabilities: Capabilities
    """What it can do."""
    library: Library | None
    """The library; None if the engine cannot run it."""
    is_cluster: bool = False
    """Whether keys have slots: one call of the library then has keys of one slot only."""
    ends: Ends = msgspec.field(default_factory=Ends)
    """What reads at this gateway have seen of the ends of streams."""
    configured: Configured = msgspec.field(default_factory=Configured)
    """Which streams may have settings; for these, the library runs what the settings concern."""
    inspection: Inspection = msgspec.field(default_factory=Inspection)
    """What an operator must know of it."""

    def has_settings(self, key: bytes) -> bool:
        """Whether groups of the stream may have settings. O(1)."""
        return key in self.configured.keys

    def call(self, call: Call[Any], feature: Feature) -> Plan:
        """Return the plan of a call of the library. Raises ENGINE_LACKS_FEATURE with the name of
        `feature`."""
        words = self.words(call, feature)
        return Plan([words], last(lambda result: call.read(value(result))), call.key, is_write=call.is_write)

    def words(self, call: Call[Any], feature: Feature) -> Words:
        """Return the words of a call. Raises ENGINE_LACKS_FEATURE with the name of `feature`."""
        if self.library is None:
            raise engine_lacks(feature.name, feature.reason.removeprefix("needs "))
        return self.library.words(call)
