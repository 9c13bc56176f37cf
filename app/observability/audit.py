"""The audit log: one line per administrative act, allowed or denied, independent of the log level.

It owns the logger `tailrace.audit`. A line has the id and name of the token, the operation, the keys, the
outcome and the request id. It never contains a value or a part of a token's text.
"""

from __future__ import annotations

import logging
from typing import Final

from tailrace.api.principals import Act
from tailrace.core.errors import printable

KEYS_SHOWN_MAX: Final = 20
"""A command may name 100 000 keys. A line with more keys than this also has `keys_count`."""

_logger: Final = logging.getLogger("tailrace.audit")
_logger.setLevel(logging.INFO)


def write_audit_line(act: Act) -> None:
    """Write `act` to the audit log; implements `api.principals.Audit`."""
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
