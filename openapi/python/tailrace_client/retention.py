"""The rules by which the server removes the oldest entries of a stream. This module sends nothing."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Retention:
    """The rules of one stream. An entry goes if one rule removes it, always the oldest entries first.

    `max_age_ms`: how long an entry is kept, from the time in its id on. `max_length`: how many entries.
    `max_bytes`: how many bytes of entries, as compact JSON before compression. `acknowledged`: whether
    entries go that every group has acknowledged. `protect_unread`: whether entries stay that a group has not
    read.
    """

    max_age_ms: int | None = None
    max_length: int | None = None
    max_bytes: int | None = None
    acknowledged: bool = False
    protect_unread: bool = False


RetentionChange = Retention | Literal["keep"] | None
"""New rules; `"keep"` keeps the rules, and None removes them all."""


def with_retention(request: dict[str, Any], change: RetentionChange) -> dict[str, Any]:
    """Add the change to the body of a request. The generated model cannot hold null, which removes rules."""
    if change != "keep":
        rules = None if change is None else asdict(change)
        request["json"] = {**request.get("json", {}), "retention": rules}
        request["headers"] = {**request.get("headers", {}), "Content-Type": "application/json"}
    return request
