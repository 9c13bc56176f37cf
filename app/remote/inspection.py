"""What an operator must know of the engine of a gateway, and the sentences about it: settings that lose
acknowledged entries, and rights that the gateway's user lacks.

`app.remote.inspecting` asks the engine.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

_logger: Final = logging.getLogger("tailrace.engine")

SETTINGS: Final = (
    "maxmemory",
    "maxmemory-policy",
    "appendonly",
    "appendfsync",
    "save",
    "min-replicas-to-write",
)
"""The settings of the engine that decide which acknowledged entries can be lost."""


class Inspected(Struct, frozen=True):
    """What was found at one master. `settings`: those that the engine told; others are unknown. `needed`: the
    rights without which requests fail. `useful`: those without which features are refused."""

    settings: Mapping[str, str]
    needed: Sequence[str] = ()
    useful: Sequence[str] = ()

    @property
    def may_evict(self) -> bool | None:
        """Whether the engine deletes streams when its memory is full; None if unknown.

        The policies ``volatile-*`` delete only keys with an expiry, and gateways set none. Without a limit
        of memory, an engine evicts nothing.
        """
        policy, limit = self.settings.get("maxmemory-policy"), self.settings.get("maxmemory")
        if policy is None or limit is None:
            return None
        return limit != "0" and policy != "noeviction" and not policy.startswith("volatile-")


class Inspection:
    """What was found at the masters last, by their addresses: `found`."""

    def __init__(self) -> None:
        self.found: Mapping[str, Inspected] = {}
        self._noted: Mapping[str, Inspected] = {}

    def why_not_ready(self) -> str | None:
        """Return which rights are missing, in one sentence; None if requests lack none."""
        lacking = [
            f"the user of the engine lacks rights at {address}: {' '.join(found.needed)}"
            for address, found in self.found.items()
            if found.needed
        ]
        return "; ".join(lacking) or None

    def evicting(self) -> list[str]:
        """Return a sentence for each master that may delete streams."""
        return [
            f"{address} deletes acknowledged entries when its memory is full: its maxmemory-policy is "
            f"{found.settings['maxmemory-policy']}, and its maxmemory {found.settings['maxmemory']} bytes"
            for address, found in self.found.items()
            if found.may_evict
        ]

    def warnings(self) -> list[str]:
        """Return what an operator should change, in sentences."""
        unsaved = [
            f"{address} loses entries if it crashes: its appendonly is no"
            for address, found in self.found.items()
            if found.settings.get("appendonly") == "no"
        ]
        refused = [
            f"the user of the engine lacks rights at {address}, so GET /v1/limits shows refused features: "
            f"{' '.join(found.useful)}; restart the gateway after a change"
            for address, found in self.found.items()
            if found.useful
        ]
        return [*self.evicting(), *unsaved, *refused]

    def note(self) -> None:
        """Log what differs from the last time, with a warning if an operator should act."""
        if self.found == self._noted:
            return
        self._noted = self.found
        warnings = [*self.warnings(), *filter(None, [self.why_not_ready()])]
        settings = {
            address: {name: found.settings.get(name, "unknown") for name in SETTINGS}
            for address, found in self.found.items()
        }
        fields = {"settings": settings, "warnings": warnings}
        _logger.log(logging.WARNING if warnings else logging.INFO, "engine", extra={"fields": fields})
