"""Plans a deployment past one machine: how many gateways and shards a load takes, and what breaks first.

It computes from a table of measured figures, and simulates how streams of unequal load spread over the shards
of a Cluster. It measures nothing itself; the same input gives the same output. Run it with ``python -m
bench.scale``, or ``make scale``; a test keeps docs/scale.md equal to its output.
"""

from __future__ import annotations

import argparse
import sys
from binascii import crc_hqx
from collections.abc import Iterator, Sequence
from math import ceil
from typing import Final, NamedTuple

SLOTS: Final = 16_384
US_PER_S: Final = 1_000_000
GIB: Final = 1 << 30
TB: Final = 10**12
SECONDS_PER_DAY: Final = 86_400


class Figure(NamedTuple):
    """A measured or chosen value. `source`: where it comes from."""

    value: float
    unit: str
    source: str


FIGURES: Final = {
    "request_us": Figure(
        29, "us of a core", "measured: a gateway takes 33 us of CPU for an append of one entry"
    ),
    "entry_us": Figure(
        4.5, "us of a core", "measured: a gateway takes 4.8 us an entry, 100 entries a request"
    ),
    "shard_us": Figure(4.3, "us of a core", "measured: the master of the stream, 100 entries a request"),
    "links": Figure(
        3, "connections", "of each gateway to each master: commands, confirmed writes, waiting reads"
    ),
    "event_us": Figure(10, "us of a core", "measured: a gateway, fan-out to 1 000 WebSockets"),
    "reader_bytes": Figure(41_600, "bytes", "resident memory of 4 000 open tails (SSE), measured once"),
    "reader_limit": Figure(16_384, "connections", "`connections_max` of GET /v1/limits, the default"),
    "entry_bytes": Figure(113, "bytes", "MEMORY USAGE, Redis 8.10.2, 100 000 entries with 100 random bytes"),
    "stream_bytes": Figure(4_414, "bytes", "used_memory, Redis 8.10.2, 20 000 streams with one small entry"),
    "busy": Figure(0.6, "", "chosen: the planned share of a core; the rest is for failed nodes"),
    "shard_memory": Figure(48 * GIB, "bytes", "chosen: data of a shard, on a machine with 64 GiB"),
    "gateway_memory": Figure(2 * GIB, "bytes", "chosen: memory of a gateway"),
    "cluster_nodes": Figure(1_000, "nodes", "recommended limit of one Cluster, replicas included"),
}


class Load(NamedTuple):
    """What to serve. `batch`: entries of one request. `wakes`: events that waiting readers receive per
    second."""

    name: str
    appends: int = 0
    batch: int = 1
    readers: int = 0
    wakes: int = 0
    streams: int = 0
    stored_bytes: float = 0


class Needs(NamedTuple):
    """The gateways and masters for each reason; the greatest counts."""

    gateways: dict[str, int]
    masters: dict[str, int]

    @property
    def gateway_count(self) -> int:
        """Return the gateways to run; three at least."""
        return max(3, *self.gateways.values())

    @property
    def master_count(self) -> int:
        """Return the masters to run; three at least, each with one replica."""
        return max(3, *self.masters.values())


LOADS: Final = (
    Load("1 000 000 appends/s, one a request", appends=1_000_000),
    Load("1 000 000 appends/s, 100 a request", appends=1_000_000, batch=100),
    Load("1 000 000 waiting readers, each woken every 10 s", readers=1_000_000, wakes=100_000),
    Load("1 000 000 waiting readers, each woken every second", readers=1_000_000, wakes=1_000_000),
    Load("1 000 000 streams", streams=1_000_000),
    Load("100 TB in memory", stored_bytes=100 * TB),
    Load(
        "all of it, 100 a request",
        appends=1_000_000,
        batch=100,
        readers=1_000_000,
        wakes=1_000_000,
        streams=1_000_000,
        stored_bytes=100 * TB,
    ),
)


def value(name: str) -> float:
    """Return a figure."""
    return FIGURES[name].value


def needs_of(load: Load) -> Needs:
    """Return what a load takes."""
    per_append_us = value("request_us") / load.batch + value("entry_us")
    busy_us = load.appends * per_append_us + load.wakes * value("event_us")
    data = load.streams * value("stream_bytes") + load.stored_bytes
    return Needs(
        {
            "processor": ceil(busy_us / (US_PER_S * value("busy"))),
            "connections": ceil(load.readers / value("reader_limit")),
            "memory": ceil(load.readers * value("reader_bytes") / value("gateway_memory")),
        },
        {
            "appends": ceil(load.appends * value("shard_us") / (US_PER_S * value("busy"))),
            "memory": ceil(data / value("shard_memory")),
        },
    )


# --- how unequal streams spread --------------------------------------------------------------------------


class Spread(NamedTuple):
    """How a load spreads. `hottest_stream`: its share of all appends. `hottest_master`: the load of the
    busiest master, as a multiple of the mean."""

    streams: int
    skew: float
    masters: int
    hottest_stream: float
    hottest_master: float


def spread(streams: int, skew: float, masters: int, parts: int = 1) -> Spread:
    """Simulate a Cluster. The n-th busiest stream has a load of `n ** -skew`; 0: all are equal.

    `parts`: each stream is partitioned over so many keys.
    """
    loads = [0.0] * masters
    weights = [rank**-skew for rank in range(1, streams + 1)]
    for rank, weight in enumerate(weights):
        for part in range(parts):
            slot = crc_hqx(b"stream:%d:%d" % (rank, part), 0) % SLOTS
            loads[slot * masters // SLOTS] += weight / parts
    total = sum(weights)
    return Spread(streams, skew, masters, weights[0] / total, max(loads) * masters / total)


# --- the report ------------------------------------------------------------------------------------------


def report() -> str:
    """Return the tables in Markdown."""
    parts = (_figures(), _needs(), _bounds(), _spreads(), _partitions())
    return "\n\n".join("\n".join(lines) for lines in parts)


def _figures() -> Iterator[str]:
    yield "| figure | value | source |"
    yield "|---|---|---|"
    for name, figure in FIGURES.items():
        yield f"| `{name}` | {_number(figure.value)} {figure.unit} | {figure.source} |".replace("  |", " |")


def _needs() -> Iterator[str]:
    yield "| load | gateways | because of | masters | because of | nodes with replicas |"
    yield "|---|---|---|---|---|---|"
    for load in LOADS:
        needs = needs_of(load)
        nodes = 2 * needs.master_count
        beyond = " (more than one Cluster)" if nodes > value("cluster_nodes") else ""
        yield (
            f"| {load.name} | {_number(needs.gateway_count)} | {_reason(needs.gateways)} "
            f"| {_number(needs.master_count)} | {_reason(needs.masters)} | {_number(nodes)}{beyond} |"
        )


def _bounds() -> Iterator[str]:
    """Yield what does not grow with the number of gateways and masters, and what follows from the whole
    plan."""
    gateways = needs_of(LOADS[-1]).gateway_count
    fan_out_s = value("reader_limit") * value("event_us") / US_PER_S
    days = 100 * TB / (1_000_000 * value("entry_bytes")) / SECONDS_PER_DAY
    yield "| bound | value |"
    yield "|---|---|"
    appends = _number(US_PER_S // value("shard_us"))
    yield f"| appends to one stream, which is one key in one slot | {appends}/s |"
    yield f"| events that one gateway delivers | {_number(US_PER_S // value('event_us'))}/s |"
    yield f"| time to wake all readers of one full gateway, if all wait for one stream | {fan_out_s:.2f} s |"
    yield f"| connections of all gateways to one master | {_number(gateways * value('links'))} |"
    yield f"| time in which 1 000 000 appends/s of 100 bytes fill 100 TB | {days:.1f} days |"


def _reason(counts: dict[str, int]) -> str:
    reason = max(counts, key=lambda name: counts[name])
    return reason if counts[reason] > 3 else "the least that survives a failure"  # noqa: PLR2004 - see Needs


def _spreads() -> Iterator[str]:
    yield "| streams | skew | masters | busiest stream | busiest master, times the mean |"
    yield "|---|---|---|---|---|"
    for streams, skew, masters in (
        (1_000, 0.0, 8),
        (100_000, 0.0, 8),
        (1_000, 1.0, 8),
        (100_000, 1.0, 8),
        (100_000, 1.0, 100),
    ):
        found = spread(streams, skew, masters)
        yield (
            f"| {_number(streams)} | {skew:g} | {masters} "
            f"| {found.hottest_stream:.2%} | {found.hottest_master:.2f} |"
        )


def _partitions() -> Iterator[str]:
    yield "| keys per stream | busiest master, times the mean |"
    yield "|---|---|"
    for parts in (1, 4, 16, 64):
        yield f"| {parts} | {spread(1_000, 1.0, 8, parts).hottest_master:.2f} |"


def _number(number: float) -> str:
    return f"{number:,.0f}".replace(",", " ") if number == int(number) else f"{number:g}"


def main(words: Sequence[str]) -> int:
    """Print the report."""
    argparse.ArgumentParser(description=__doc__).parse_args(words)
    print(report())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
