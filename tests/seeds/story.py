"""The form of a transcript: commands in order, each with a time and the reply of the server.

Knows neither the guide nor how a command reaches a server.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

Reply: TypeAlias = Any
Entry: TypeAlias = list[Any]


@dataclass(frozen=True)
class Step:
    """`at_ms`: the server's clock, None if it has not advanced since the previous step."""

    words: str
    reply: Reply
    at_ms: int | None = None


def entry(value: str, *fields: str) -> Entry:
    """An entry as RESP2 writes it."""
    return [value, list(fields)]


def rider(value: str, name: str, speed: str, position: str, location: str) -> Entry:
    """A rider passing a checkpoint of the race in France."""
    return entry(value, "rider", name, "speed", speed, "position", position, "location_id", location)
