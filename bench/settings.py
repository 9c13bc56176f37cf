"""The cost of settings: durability, the access log, tokens, the cache of blocks. The rows have no goals.

Each row compares one setting with the default under the same load, in turns: the two servers differ only in
that setting. Run it with ``python -m bench.settings``; ``--plots`` draws durability by connections.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Final

from bench.growth import IMPORT_ENTRIES, Client
from bench.imports import SINGLE
from bench.load import Load, answered
from bench.rows import Effort, Row, command, in_turns, per_s, spaced
from bench.server import Started, started

CONNECTIONS: Final = (1, 16, 64, 256)
CONNECTIONS_PLAIN: Final = 16
DURABILITIES: Final = ("always", "interval", "none")
ROUNDS: Final = 3
SECONDS: Final = 3.0
HISTORY_ENTRIES: Final = 2_000_000
CACHES_MB: Final = (64, 1)


def measure(effort: Effort) -> Iterator[Row]:
    """Yield all rows."""
    yield from _durabilities(effort)
    yield from _logs(effort)
    yield from _tokens(effort)
    yield from _caches(effort)


def _durabilities(effort: Effort) -> Iterator[Row]:
    rates: dict[str, list[float]] = {name: [] for name in DURABILITIES}
    places = effort.some(CONNECTIONS)
    with ExitStack() as stack:
        servers = {name: stack.enter_context(started(name)) for name in DURABILITIES}
        for connections in places:
            medians = in_turns(
                effort.rounds(ROUNDS),
                *[_rate(server, SINGLE, connections, effort) for server in servers.values()],
            )
            for name, rate in zip(servers, medians, strict=True):
                rates[name].append(rate)
            for name, rate in zip(DURABILITIES[:-1], medians, strict=False):
                plural = "s" if connections > 1 else ""
                what = f"xadd, {connections} connection{plural}, beside durability {DURABILITIES[-1]}"
                yield _row(what, name, rate, medians[-1])
    if effort.plots is not None:
        # matplotlib is installed only where plots are wanted.
        from bench.plots import plot_lines  # noqa: PLC0415

        title, labels = "Cost of durability", ("connections, one append a request each", "appends/s")
        plot_lines(effort.plots / "durability.svg", title, labels, places, rates)


def _logs(effort: Effort) -> Iterator[Row]:
    with started("none", "--log-level", "info") as logging, started() as plain:
        ours, theirs = in_turns(
            effort.rounds(ROUNDS),
            _rate(logging, SINGLE, CONNECTIONS_PLAIN, effort),
            _rate(plain, SINGLE, CONNECTIONS_PLAIN, effort),
        )
    yield _row("xadd, a log line a request, beside --log-level warning", "none", ours, theirs)


def _tokens(effort: Effort) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "tokens.json"
        token = _new_token(file)
        with started("none", "--tokens-file", str(file)) as guarded, started() as plain:
            with_token = SINGLE._replace(headers=(("authorization", f"Bearer {token}"),))
            ours, theirs = in_turns(
                effort.rounds(ROUNDS),
                _rate(guarded, with_token, CONNECTIONS_PLAIN, effort),
                _rate(plain, SINGLE, CONNECTIONS_PLAIN, effort),
            )
    yield _row("xadd with a token, beside a server without tokens", "none", ours, theirs)


def _caches(effort: Effort) -> Iterator[Row]:
    """Yield the look-ups of single entries all over a history. A data directory has only one server at a
    time."""
    entries = max(effort.count(HISTORY_ENTRIES), IMPORT_ENTRIES)
    with tempfile.TemporaryDirectory() as scratch:
        with started("interval", data_dir=Path(scratch)) as server:
            ids = Client(server).fill("history", range(entries))
        looking = [partial(_look_up_us, Path(scratch), mb, ids) for mb in effort.some(CACHES_MB)]
        plain_us, *_ = medians_us = in_turns(effort.rounds(ROUNDS), *looking)
    for cache_mb, us in list(zip(CACHES_MB, medians_us, strict=False))[1:]:
        what = f"look up {spaced(len(ids))} of {spaced(entries)} entries, --cache-mb {cache_mb}"
        figures = f"{us:.0f} us", f"{plain_us:.0f} us"
        yield Row(None, f"{what}, beside {CACHES_MB[0]}", "interval", *figures, us / plain_us, "", None)


def _look_up_us(directory: Path, cache_mb: int, ids: list[str]) -> float:
    """Return the median of one look-up in microseconds, after every id was looked up once."""
    taken_s = []
    with started("interval", "--cache-mb", str(cache_mb), data_dir=directory) as server:
        client = Client(server)
        for entry_id in ids * 2:
            began_s = time.perf_counter()
            client.request("GET", f"/v1/streams/history/entries/{entry_id}")
            taken_s.append(time.perf_counter() - began_s)
    return 1e6 * statistics.median(taken_s[len(ids) :])


def _rate(server: Started, load: Load, connections: int, effort: Effort) -> Callable[[], float]:
    """Return a function that measures appends a second."""
    return lambda: answered(server.url, load, connections, effort.seconds(SECONDS)).per_s


def _new_token(file: Path) -> str:
    create = ["-c", "from tailrace.app.cli import main; main()", "token", "create", "--scope", "append"]
    result = subprocess.run(
        [sys.executable, *create, "--tokens-file", str(file)], capture_output=True, text=True, check=True
    )
    return result.stdout.strip()


def _row(what: str, durability: str, ours: float, plain: float) -> Row:
    return Row(None, what, durability, per_s(ours), per_s(plain), ours / plain, "", None)


if __name__ == "__main__":
    command(measure, __doc__)
