"""Profiles the server: py-spy samples a server under load, and a report shows where the time is spent.

Three loads by `wrk`: appends of one entry, ranges of 100 entries, and claims of 100 of 20 000 pending
entries. For each load, the report shows the share of the server's busy time by layer and by function; time in
C counts for the Python function that calls it. If py-spy reports that it may not read the process, run it as
root. Run it with ``python -m bench.profiles``; ``--plots`` writes flame graphs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from bench.appends import OURS
from bench.documents import renew
from bench.load import Load, answered
from bench.rows import Effort, add_effort, effort_of, machine_load
from bench.server import NDJSON, Started, started

PENDING: Final = 20_000
CONNECTIONS: Final = 16
SECONDS: Final = 5.0
SAMPLES_PER_S: Final = 500
FUNCTIONS_SHOWN: Final = 12
PACKAGES: Final = ("core", "api", "app")

CLAIM: Final = {"group": "g", "consumer": "heir", "count": 100, "claim_min_idle_ms": 0}
LOADS: Final[Mapping[str, Load]] = {
    "append": OURS,
    "range": Load("/v1/streams/pending/entries?count=100"),
    "claim": Load("/v1/read-group", json.dumps(CLAIM | {"streams": [{"key": "pending", "id": ">"}]})),
}

Stacks = Counter[tuple[str, ...]]
"""How often each stack was sampled; its frames begin with the outermost one."""


def stacks_of(lines: Iterable[str]) -> Stacks:
    """Parse py-spy's `raw` format: ``outer;inner count``, each frame as ``function (file:line)``."""
    stacks: Stacks = Counter()
    for line in lines:
        frames, _, count = line.rpartition(" ")
        stacks[tuple(frames.split(";"))] += int(count)
    return stacks


def by_function(stacks: Stacks) -> Counter[str]:
    """Return how often each function was the innermost frame."""
    counts: Counter[str] = Counter()
    for stack, count in stacks.items():
        function, _, place = stack[-1].partition(" (")
        counts[f"{place.rpartition(':')[0] or 'native'} {function}"] += count
    return counts


def by_layer(stacks: Stacks) -> Counter[str]:
    """Return how often the innermost frame was in each of our layers or in each library."""
    counts: Counter[str] = Counter()
    for function, count in by_function(stacks).items():
        counts[layer_of(function.partition(" ")[0])] += count
    return counts


def _in_tree(path: str) -> str:
    """Return a path in this tree from its root on; the folders of the layers are also in `tailrace`."""
    return path.removeprefix(f"{Path.cwd()}/").removeprefix("tailrace/")


def layer_of(path: str) -> str:
    """Return the layer that contains a file, or its library."""
    first = _in_tree(path).partition("/")[0]
    return first if first in PACKAGES else "uvicorn, asyncio and the standard library"


def _fill(server: Started) -> None:
    """Create a stream whose entries a group has read."""
    lines = "\n".join(f'{{"field":"value{number}"}}' for number in range(PENDING))
    server.post("/v1/streams/pending/entries:import", lines.encode(), NDJSON)
    server.command("XGROUP", "CREATE", "pending", "g", "0")
    read = ["XREADGROUP", "GROUP", "g", "silent", "COUNT", str(PENDING), "STREAMS", "pending", ">"]
    assert len(server.command(*read)[0][1]) == PENDING


def profiled(server: Started, name: str, effort: Effort) -> Stacks:
    """Return the stacks under one load."""
    seconds = max(round(effort.seconds(SECONDS)), 1)
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(1) as pool:
        raw = Path(scratch) / "stacks"
        loading = pool.submit(answered, server.url, LOADS[name], CONNECTIONS, seconds + 1)
        _record(server, "raw", raw, seconds)
        loading.result()
        if effort.plots is not None:
            effort.plots.mkdir(parents=True, exist_ok=True)
            loading = pool.submit(answered, server.url, LOADS[name], CONNECTIONS, seconds + 1)
            _record(server, "flamegraph", effort.plots / f"flame-{name}.svg", seconds)
            loading.result()
        return stacks_of(raw.read_text().splitlines())


def _record(server: Started, kind: str, path: Path, seconds: int) -> None:
    spy = [str(Path(sys.executable).with_name("py-spy")), "record", "--format", kind]
    options = ["--rate", str(SAMPLES_PER_S), "--duration", str(seconds), "--output", str(path)]
    command = [*spy, *options, "--full-filenames", "--pid", str(server.process_id)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise SystemExit(f"py-spy failed: {result.stderr.strip()}")


def report(name: str, stacks: Stacks) -> Iterator[str]:
    """Yield the shares of one load as Markdown."""
    total = stacks.total()
    layers = ", ".join(
        f"{layer} {100 * count / total:.0f} %" for layer, count in by_layer(stacks).most_common()
    )
    yield from ("", f"{name}: {layers}", "")
    yield "| share | function |"
    yield "|---|---|"
    for function, count in by_function(stacks).most_common(FUNCTIONS_SHOWN):
        shown = _in_tree(function).rpartition("site-packages/")[2]
        shown = shown.rpartition(f"/python{sys.version_info.major}.{sys.version_info.minor}/")[2]
        yield f"| {100 * count / total:.1f} % | {shown} |"


def main() -> None:
    """Profile all three loads."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_effort(parser)
    options = parser.parse_args()
    lines = [f"Taken at a load of {machine_load()}."]
    with started() as server:
        _fill(server)
        for name in LOADS:
            lines += report(name, profiled(server, name, effort_of(options)))
    print(*lines, sep="\n")
    if options.document is not None:
        renew(options.document, "profiles", lines)


if __name__ == "__main__":
    main()
