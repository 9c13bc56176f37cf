"""The options that bound a micro-batch, as in Spark's Kafka source.

They say how many entries and bytes a batch has, and how long it waits for entries. This module only converts
options.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tailrace_spark.errors import BadOption
from tailrace_spark.option_checks import integer_within

LIMITING: Final = ("minEntriesPerTrigger", "maxTriggerDelay", "maxEntriesPerTrigger", "maxBytesPerTrigger")
BOUND_MAX: Final = 1 << 62
UNITS_MS: Final = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
WORDS: Final = {
    "": "ms", "millisecond": "ms", "second": "s", "min": "m", "minute": "m", "hour": "h", "day": "d"
}  # fmt: skip
DURATION: Final = re.compile(r"\s*(\d{1,12})\s*([a-z]*)\s*", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one micro-batch; None: no bound. `delay_ms`: how long a batch waits for `min_entries`."""

    min_entries: int | None
    delay_ms: int
    max_entries: int | None
    max_bytes: int | None

    @property
    def is_empty(self) -> bool:
        """Return whether there is no bound."""
        return self.min_entries is None and self.max_entries is None and self.max_bytes is None


def limits_of(options: Mapping[str, str]) -> Limits:
    """Return the limits that the options set. Raises `BadOption`."""
    limits = Limits(
        min_entries=_bound("minEntriesPerTrigger", options),
        delay_ms=duration_ms("maxTriggerDelay", options.get("maxTriggerDelay", "15m")),
        max_entries=_bound("maxEntriesPerTrigger", options),
        max_bytes=_bound("maxBytesPerTrigger", options),
    )
    least, most = limits.min_entries, limits.max_entries
    if least is None and "maxTriggerDelay" in options:
        raise BadOption("maxTriggerDelay: it has no effect without minEntriesPerTrigger; set both")
    if least is not None and most is not None and least > most:
        raise BadOption(
            f"minEntriesPerTrigger: {least} is greater than maxEntriesPerTrigger, {most}; use a smaller "
            "number"
        )
    return limits


def duration_ms(name: str, value: str) -> int:
    """Return a duration (`15m`, `90 seconds`) in milliseconds; a number alone is in milliseconds. Raises
    `BadOption`."""
    found = DURATION.fullmatch(value)
    word = found[2].casefold() if found else "?"
    unit = word if word in UNITS_MS else WORDS.get(word.removesuffix("s"))
    if found is None or unit is None:
        raise BadOption(f"{name}: {value!r} is not a duration, such as 15m, 90s, 500ms or 1h")
    return int(found[1]) * UNITS_MS[unit]


def _bound(name: str, options: Mapping[str, str]) -> int | None:
    return None if name not in options else integer_within(name, options[name], 1, BOUND_MAX)
