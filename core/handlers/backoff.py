"""How long a nack delays the next delivery of an entry: as the nack says, or by the backoff of the group.

The delay of the backoff grows with the number of deliveries: ``initial_ms * factor ** (deliveries - 1)``, at
most ``max_ms``. It has no random part, so the same history always gives the same times. This module changes
nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from tailrace.core.commands import NackMode, NegativeAcknowledge
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.group_settings import GroupSettings
from tailrace.core.limits import DELAY_MS_MAX


def delay_of(command: NegativeAcknowledge, settings: GroupSettings | None) -> Callable[[int], int] | None:
    """Return the function from the new delivery count of an entry to its delay in milliseconds; None if the
    nack delays nothing. O(1).

    The backoff does not apply to a silent nack: the delivery does not count, so nothing has failed.
    """
    if command.delay_ms is not None:
        delay_ms = command.delay_ms
        return lambda _: delay_ms
    if settings is None or settings.backoff_initial_ms is None or command.mode is NackMode.SILENT:
        return None
    initial_ms, factor, max_ms = settings.backoff_initial_ms, settings.backoff_factor, settings.backoff_max_ms
    assert factor is not None, "the three are set together"
    assert max_ms is not None, "the three are set together"
    return lambda deliveries: backoff_ms(deliveries, initial_ms, factor, max_ms)


def backoff_ms(deliveries: int, initial_ms: int, factor: float, max_ms: int) -> int:
    """Return the delay after this number of deliveries; the first one and none count alike. O(1)."""
    steps = max(deliveries - 1, 0)
    if steps * math.log(factor) >= math.log(max_ms / initial_ms):
        return max_ms if factor > 1 else initial_ms
    return min(int(initial_ms * factor**steps), max_ms)


def require_near(name: str, value: int, delay_ms: int) -> None:
    """Raise INVALID_ARGUMENT if `delay_ms`, which the argument `name` with `value` asks for, is too long."""
    if delay_ms > DELAY_MS_MAX:
        raise StreamError(
            ErrorCode.INVALID_ARGUMENT,
            f"ERR {name} is {value}, which is {delay_ms} ms from now, but a delay may be at most "
            f"{DELAY_MS_MAX} ms; times are in milliseconds",
        )
