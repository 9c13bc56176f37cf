"""`tailrace cli --scan` and `--stat`: all keys, and the state of the server as redis-cli prints it.

It owns the lines that they print. `--stat` reads the metrics page; `--scan` sends SCAN.
"""

from __future__ import annotations

import sys
from typing import Final

from tailrace.app.cli.observing.stats import Sample, figures
from tailrace.app.cli.output import say
from tailrace.app.cli.redis.printing import Form, rounds, written
from tailrace.app.cli.redis.replies import Failure, run
from tailrace.app.cli.server import Server

LINES_PER_HEADING: Final = 20

_HEADING: Final = (
    "------- data -------------- --------------------- load --------------------\n"
    "streams    entries    mem      clients blocked requests            appends/s"
)
_UNITS: Final = (("G", 2**30), ("M", 2**20), ("K", 2**10))


def scan(server: Server, pattern: str | None, count: int | None, interval_s: float, form: Form) -> bool:
    """Print all keys that match `pattern`, one per line, and return whether that succeeded."""
    cursor = b"0"
    options = [] if pattern is None else [b"MATCH", pattern.encode("utf-8", "surrogateescape")]
    options += [] if count is None else [b"COUNT", str(count).encode()]
    for _ in rounds(-1, interval_s):
        reply = run(server, [b"SCAN", cursor, *options])
        if isinstance(reply, Failure):
            sys.stdout.buffer.write(written(reply, form))
            return False
        assert isinstance(reply, list)
        following, keys = reply
        assert isinstance(following, bytes)
        assert isinstance(keys, list)
        for key in keys:
            sys.stdout.buffer.write(written(key, form))
        sys.stdout.buffer.flush()
        cursor = following
        if cursor == b"0":
            break
    return True


def stat(server: Server, count: int, interval_s: float) -> None:
    """Print one line after each interval, `count` lines; without end if `count` is negative."""
    last, before = Sample(server), 0
    for number, _ in enumerate(rounds(count, interval_s)):
        if number % LINES_PER_HEADING == 0:
            for line in _HEADING.splitlines():
                say(line)
        now = Sample(server)
        found = figures(last, now)
        requests = f"{found['requests']} (+{found['requests'] - before if before else 0})"
        say(
            f"{found['streams']:<11}{found['entries']:<11}{_size(found['memory_bytes']):<9}"
            f"{found['connections']:<8}{found['waiting_readers']:<8}{requests:<20}"
            f"{found['entries_appended_per_s'] or 0:.0f}"
        )
        sys.stdout.flush()
        last, before = now, found["requests"]


def _size(value: int | None) -> str:
    if value is None:
        return "-"
    return next((f"{value / size:.2f}{unit}" for unit, size in _UNITS if value >= size), f"{value}B")
