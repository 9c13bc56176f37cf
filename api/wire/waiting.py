"""How long a read waits: the parameter `wait_ms` and the header `Prefer: wait=N`."""

from __future__ import annotations

import re
from typing import Annotated, Final, NamedTuple, TypeAlias

from fastapi import Header, Query

from tailrace.core.limits import WAIT_MS_MAX

WaitMs: TypeAlias = Annotated[
    int | None,
    Query(
        ge=0,
        le=WAIT_MS_MAX,
        description="How many milliseconds to wait if there are no entries; needs `after`. 0 by default.",
        examples=[0],
    ),
]
Prefer: TypeAlias = Annotated[
    str | None,
    Header(
        description="`wait=N`: wait up to N seconds, if the request has no `wait_ms`.", examples=["wait=5"]
    ),
]

_PREFER_WAIT: Final = re.compile(r"(?:^|[,;])\s*wait\s*=\s*\"?([0-9]{1,9})\"?\s*(?=$|[,;])", re.ASCII)


class Waiting(NamedTuple):
    """How long to wait, in milliseconds, and the response headers that confirm a `Prefer` header.

    `block_ms` None means no wait, as in `core.commands.Read`.
    """

    block_ms: int | None
    headers: dict[str, str]


def waiting(wait_ms: int | None, prefer: str | None) -> Waiting:
    """Return how long to wait: `wait_ms` if given, otherwise the `Prefer` header, up to the server's
    limit."""
    if wait_ms is not None:
        return Waiting(wait_ms or None, {})
    match = _PREFER_WAIT.search(prefer or "")
    if match is None:
        return Waiting(None, {})
    wait_s = min(int(match[1]), WAIT_MS_MAX // 1000)
    return Waiting(wait_s * 1000 or None, {"Preference-Applied": f"wait={wait_s}"})
