"""The delay of claims: how long after an entry is idle enough a waiting reader gets it (row 9 of
docs/performance.md).

One consumer reads an entry and does not acknowledge it; another one waits in a long-poll with
`claim_min_idle_ms`. The response contains the entry's idle time at the claim; the delay is the idle time
minus the threshold. Run it with ``python -m bench.claims``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from bench.latencies import NS_PER_MS, Latencies
from bench.rows import Effort, Row, command
from bench.server import Started, started

ROUNDS: Final = 200
MIN_IDLE_MS: Final = 40
WAIT_MS: Final = 10_000
GOAL_MS: Final = 5
KEY: Final = "bench:claims"


def measure(effort: Effort) -> Iterator[Row]:
    """Yield the delay of claims without durability and with `always`."""
    for durability in ("none", "always"):
        with started(durability) as server:
            server.command("XGROUP", "CREATE", KEY, "g", "$", "MKSTREAM")
            late = Latencies([_late_ms(server) * NS_PER_MS for _ in range(effort.count(ROUNDS))])
        latest_ms = late.percentile_ms(100)
        ours = f"p50 {late.percentile_ms(50):.0f} ms, latest {latest_ms:.0f} ms"
        what = f"delay of a claim after {MIN_IDLE_MS} ms, long-poll"
        yield Row(9, what, durability, ours, "", None, f"latest <= {GOAL_MS} ms", latest_ms <= GOAL_MS)


def _late_ms(server: Started) -> int:
    """Return the delay of one claim in milliseconds, by the server's clock."""
    server.command("XADD", KEY, "*", "field", "value")
    [taken] = _read(server, "silent")
    [claimed] = _read(server, "heir", claim_min_idle_ms=MIN_IDLE_MS, wait_ms=WAIT_MS)
    assert claimed["id"] == taken["id"]
    assert server.command("XACK", KEY, "g", claimed["id"]) == 1
    idle_ms: int = claimed["idle_ms"]
    return idle_ms - MIN_IDLE_MS


def _read(server: Started, consumer: str, **options: int) -> list[dict[str, Any]]:
    """Return the entries that a consumer of the group gets."""
    body = {"group": "g", "consumer": consumer, "streams": [{"key": KEY, "id": ">"}], **options}
    answer = server.post("/v1/read-group", json.dumps(body).encode())
    entries: list[dict[str, Any]] = answer["streams"][0]["entries"]
    return entries


if __name__ == "__main__":
    command(measure, __doc__)
