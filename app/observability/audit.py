"""The audit log: one line per administrative act, allowed or denied, independent of the log level.

It owns the logger `tailrace.audit`, and keeps the most recent lines in memory for `GET /v1/server`. A line
has the id and name of the token, the operation, the keys, the outcome and the request id. It never contains a
value or a part of a token's text.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Final

from tailrace.api.principals import Act
from tailrace.core.errors import printable

KEYS_SHOWN_MAX: Final = 20
"""A command may name 100 000 keys. A line with more keys than this also has `keys_count`."""

CAPACITY: Final = 128
"""How many lines the memory keeps, as many as the slow log."""

_logger: Final = logging.getLogger("tailrace.audit")
_logger.setLevel(logging.INFO)

Line = Mapping[str, object]


class AuditLog:
    """Writes audit lines and keeps the last `CAPACITY` of them; implements `api.principals.Audit`."""

    capacity: Final = CAPACITY

    def __init__(self) -> None:
        self._recent: deque[Line] = deque(maxlen=CAPACITY)

    def __call__(self, act: Act) -> None:
        """Write `act` to the audit log."""
        fields: dict[str, object] = {
            "token_id": act.principal.token_id,
            "token": act.principal.name,
            "operation": act.operation,
            "keys": [printable(key) for key in act.keys[:KEYS_SHOWN_MAX]],
            "outcome": act.outcome,
            "request_id": act.request_id,
        }
        if len(act.keys) > KEYS_SHOWN_MAX:
            fields["keys_count"] = len(act.keys)
        _logger.info("administrative_act", extra={"fields": fields})
        self._recent.append({"at_ms": time.time_ns() // 1_000_000, **fields, "keys_count": len(act.keys)})

    def latest(self, limit: int) -> Sequence[Line]:
        """Return up to `limit` lines, newest first. O(limit)."""
        return list(islice(reversed(self._recent), limit))
