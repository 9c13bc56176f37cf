"""The values of the settings of a consumer group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Backoff:
    """How long a nack delays the next delivery of an entry: `initial_ms` after the first delivery, and
    `factor` times as long after each further one, but at most `max_ms`."""

    initial_ms: int
    factor: float = 2.0
    max_ms: int = 3_600_000


Setting: TypeAlias = int | str | Backoff
"""The value of a setting."""
