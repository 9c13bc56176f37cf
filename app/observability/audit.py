"""The audit log: one line for each administrative act, allowed or not, whatever the level of other logs.

It owns the logger `tailrace.audit`. A line says who (a token's id and name), what, on which keys, what came
of it, and under which request id; never a value, and never anything of a token.
"""

from __future__ import annotations

import logging
from typing import Final

from tailrace.api.principals import Act
from tailrace.core.errors import printable

KEYS_SHOWN_MAX: Final = 20
"""A command may name a hundred thousand keys; the line then tells how many."""

_logger: Final = logging.getLogger("tailrace.audit")
_logger.setLevel(logging.INFO)


def write_audit_line(act: Act) -> None:
    """`api.principals.Audit`, to the log."""
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
