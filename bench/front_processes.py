"""What several processes on one machine could give: a study of a server that does not exist.

In such a server, front processes share a port (`SO_REUSEPORT`). They parse, authorise and answer requests,
and pass the commands to the one process that writes. This bench measures the parts: the processor time of an
append in today's server, and that of a real store in a process of its own, which gets decoded appends over a
socket, several at once, and returns their ids. From these it computes how many appends per second the cores
of a machine could take: the writer has one core, and the front processes share the others. A front process
that answers reads itself has to apply every change to its own copy; the last row shows what that takes. Run
it with ``python -m bench.front_processes``.
"""

from __future__ import annotations

import os
import socket
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from bench.appends import OURS, WARM_UP_S
from bench.load import answered
from bench.rows import Effort, Row, command, per_s
from bench.server import busy_s, started
from tailrace.app.store.service import EngineStore
from tailrace.core.commands import Append
from tailrace.core.engine import Engine
from tailrace.core.keyspace import Keyspace
from tailrace.core.storage.records import decode_effects, encode_effects

ROUNDS: Final = 5
SECONDS: Final = 3.0
CONNECTIONS: Final = 64
COMMANDS: Final = 100_000
MESSAGES: Final = (1, 16, 64)
"""How many appends a front process sends at once: those that it read in one turn of its event loop."""

CORES: Final = (4, 8, 16)
KEY: Final = b"bench"
FRAGMENT: Final = b'{"field":"value1"}'
US_PER_S: Final = 1e6
NS_PER_US: Final = 1e3

_LENGTH_BYTES: Final = 4
_encode: Final = msgspec.msgpack.Encoder().encode
_decode_appends: Final = msgspec.msgpack.Decoder(list[tuple[bytes, bytes]]).decode
_decode_ids: Final = msgspec.msgpack.Decoder(list[int]).decode


class Hop(NamedTuple):
    """The processor time of one append on both sides of the socket, in microseconds."""

    front_us: float
    writer_us: float


def measure(effort: Effort) -> Iterator[Row]:
    """Yield the rows of the study; none has a goal."""
    rounds, count = effort.rounds(ROUNDS), effort.count(COMMANDS)
    whole_us = _median(rounds, lambda: _whole_us(effort))
    alone_us = _median(rounds, lambda: _engine_us(count))
    yield _row(
        "one append: the store alone, beside the whole request", f"{alone_us:.1f} us", f"{whole_us:.1f} us"
    )
    for size in effort.some(MESSAGES):
        hop = _hop(rounds, size, max(count // size, 1) * size)
        ours = f"writer {hop.writer_us:.1f} us, front {hop.front_us:.1f} us"
        yield _row(
            f"one append over a socket, {size} at once, beside the store alone", ours, f"{alone_us:.1f} us"
        )
        for cores in effort.some(CORES):
            fronts_us = whole_us - alone_us + hop.front_us
            rate = US_PER_S * min((cores - 1) / fronts_us, 1 / hop.writer_us)
            what = f"computed: appends on {cores} cores, {size} at once, beside one process"
            yield _row(what, per_s(rate), per_s(US_PER_S / whole_us), rate * whole_us / US_PER_S)
    applied_us = _median(rounds, lambda: _applied_us(count))
    what = "a copy for reads: decode and apply one append of another process, beside the whole request"
    yield _row(what, f"{applied_us:.1f} us", f"{whole_us:.1f} us", applied_us / whole_us)


def _row(what: str, ours: str, peer: str, ratio: float | None = None) -> Row:
    return Row(None, what, "none", ours, peer, ratio, "", None)


def _median(rounds: int, figure: Callable[[], float]) -> float:
    return statistics.median(figure() for _ in range(rounds))


# --- the parts of a request ------------------------------------------------------------------------


def _whole_us(effort: Effort) -> float:
    """Return the processor time of one append by HTTP in today's server."""
    with started() as server:
        answered(server.url, OURS, CONNECTIONS, effort.seconds(WARM_UP_S))
        before_s = busy_s(server.process_id)
        result = answered(server.url, OURS, CONNECTIONS, effort.seconds(SECONDS))
        return (busy_s(server.process_id) - before_s) * US_PER_S / result.requests


def _engine_us(count: int) -> float:
    """Return the processor time that the store takes for one append, without HTTP."""
    store = EngineStore(Engine())
    began_s = time.process_time()
    for _ in range(count):
        store.submit(Append(KEY, (FRAGMENT,)), _ignore)
    return (time.process_time() - began_s) * US_PER_S / count


def _applied_us(count: int) -> float:
    """Return the processor time for one append that another process made: decode its effects and apply
    them."""
    engine = Engine()
    rows = [
        encode_effects(engine.execute(Append(KEY, (FRAGMENT,)), number).effects) for number in range(count)
    ]
    copy = Keyspace()
    began_s = time.process_time()
    for row in rows:
        for effect in decode_effects(row):
            effect.apply(copy)
    return (time.process_time() - began_s) * US_PER_S / count


# --- the hop between two processes -----------------------------------------------------------------


def _hop(rounds: int, size: int, count: int) -> Hop:
    hops = [_hop_once(size, count) for _ in range(rounds)]
    return Hop(*map(statistics.median, zip(*hops, strict=True)))


def _hop_once(size: int, count: int) -> Hop:
    """Send `count` appends to a writer, `size` at once, and wait for the ids of each message."""
    with _writer() as (front, writer_id):
        appends = [(KEY, FRAGMENT)] * size
        before_ns, began_s = _ran_ns(writer_id), time.process_time()
        for _ in range(count // size):
            _send(front, appends)
            ids = _decode_ids(_receive(front))
            assert len(ids) == size
        front_s = time.process_time() - began_s
        writer_ns = _ran_ns(writer_id) - before_ns
        return Hop(front_s * US_PER_S / count, writer_ns / NS_PER_US / count)


def _ran_ns(process_id: int) -> int:
    """Return the processor time of a process. `/proc/PID/stat` counts in steps of 10 ms, too coarse here."""
    return int(Path(f"/proc/{process_id}/schedstat").read_text().split()[0])


@contextmanager
def _writer() -> Iterator[tuple[socket.socket, int]]:
    """Yield a socket to a process that has a store, and the id of the process."""
    front, back = socket.socketpair()
    process_id = os.fork()
    if process_id == 0:
        front.close()
        _write_until_closed(back)
        os._exit(0)
    back.close()
    try:
        yield front, process_id
    finally:
        front.close()
        os.waitpid(process_id, 0)


def _write_until_closed(back: socket.socket) -> None:
    store = EngineStore(Engine())
    while message := _receive(back):
        ids: list[int] = []
        for key, fragment in _decode_appends(message):
            store.submit(Append(key, (fragment,)), lambda reply: ids.append(_id_of(reply)))  # noqa: B023
        _send(back, ids)


def _id_of(reply: Any) -> int:
    entry_id: int = reply.ids[0]
    # The 64 bits that differ from append to append, as msgpack has no larger numbers.
    return entry_id & 0xFFFF_FFFF_FFFF_FFFF


def _send(to: socket.socket, items: Sequence[Any]) -> None:
    content = _encode(items)
    to.sendall(len(content).to_bytes(_LENGTH_BYTES) + content)


def _receive(source: socket.socket) -> bytes:
    """Return the next message, nothing if the other side has closed the socket."""
    head = source.recv(_LENGTH_BYTES, socket.MSG_WAITALL)
    return source.recv(int.from_bytes(head), socket.MSG_WAITALL) if head else b""


def _ignore(_: object) -> None:
    """Take an answer and do nothing with it."""


if __name__ == "__main__":
    command(measure, __doc__)
