"""The engine as the words see it: its capabilities and its function library.

A command that the engine lacks becomes a call of the library. If the library cannot run either, the command
is refused with ENGINE_LACKS_FEATURE.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from tailrace.app.remote.functions.call import Call
from tailrace.app.remote.functions.capabilities import Capabilities, Feature
from tailrace.app.remote.functions.library import Library
from tailrace.app.remote.words.plan import Plan, Words, last, value
from tailrace.core.errors import engine_lacks


class Engine(Struct, frozen=True):
    """One engine."""

    capabilities: Capabilities
    """What it can do."""
    library: Library | None
    """The library; None if the engine cannot run it."""

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
