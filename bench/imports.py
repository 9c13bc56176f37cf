"""Bulk appends into the server, sent by `wrk`: bodies of 1 000 entries with four fields (row 3 of
docs/performance.md).

This row measures the server without the cost of a client in another language. Further rows show the same
entries one a request, and lines with spaces after commas and colons, as Python's `json` writes them.
Durability is `interval`. The streams' lengths must match the number of successful responses. Run it with
``python -m bench.imports``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from bench.clients import fields
from bench.load import Load, answered
from bench.rows import Effort, Row, command, in_turns, per_s, spaced
from bench.server import NDJSON, Started, started

LINES: Final = 1_000
CONNECTIONS: Final = 4
ROUNDS: Final = 5
SECONDS: Final = 3.0
WARM_UP_S: Final = 1.0
GOAL_PER_S: Final = 2_000_000

BODIES: Final = 16
"""How many different bodies are sent in turn. Together they exceed a megabyte, which is more than the
journal's compressor can reach back, so repeated bodies compress no better.
"""


def _body(number: int) -> str:
    numbers = range(number * LINES, (number + 1) * LINES)
    return "\n".join(msgspec.json.encode(fields(each)).decode() for each in numbers)


def _spaced_out(body: str) -> str:
    return body.replace('":"', '": "').replace('","', '", "')


FIRST, *MORE = map(_body, range(BODIES))
IMPORT: Final = Load("/v1/streams/bulk/entries:import", FIRST, NDJSON, more_bodies=tuple(MORE))
SPACED: Final = IMPORT._replace(body=_spaced_out(FIRST), more_bodies=tuple(map(_spaced_out, MORE)))
FIRST_LINE: Final = FIRST.partition("\n")[0]
SINGLE: Final = Load("/v1/streams/bulk/entries", f'{{"fields":{FIRST_LINE}}}')


def measure(effort: Effort) -> Iterator[Row]:
    """Yield the rows 3 that `wrk` measures."""
    seconds = effort.seconds(SECONDS)
    with started("interval") as server:
        _per_s(server, IMPORT, LINES, WARM_UP_S)
        bulk, single, spaced_out = in_turns(
            effort.rounds(ROUNDS),
            lambda: _per_s(server, IMPORT, LINES, seconds),
            lambda: _per_s(server, SINGLE, 1, seconds),
            lambda: _per_s(server, SPACED, LINES, seconds),
        )
    what = (
        f"entries:import by wrk, {spaced(LINES)} a request, {CONNECTIONS} connections, beside one a request"
    )
    goal = f">= {per_s(GOAL_PER_S)}"
    yield Row(3, what, "interval", per_s(bulk), per_s(single), bulk / single, goal, bulk >= GOAL_PER_S)
    what = "the same lines with spaces after commas and colons, beside those without"
    yield Row(3, what, "interval", per_s(spaced_out), per_s(bulk), spaced_out / bulk, "", None)


def _per_s(server: Started, load: Load, entries: int, seconds: float) -> float:
    """Return the entries per second of imports into a new stream, which is deleted afterwards."""
    sent = answered(server.url, load, CONNECTIONS, seconds)
    length = server.command("XLEN", "bulk")
    # The server executes requests whose responses arrive after wrk has stopped counting.
    expected = range(sent.requests * entries, (sent.requests + CONNECTIONS) * entries + 1)
    assert length in expected, (sent, length, server.command("XINFO", "STREAM", "bulk"))
    server.command("DEL", "bulk")
    return sent.per_s * entries


if __name__ == "__main__":
    command(measure, __doc__)
