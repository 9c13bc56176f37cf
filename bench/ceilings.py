"""The limits of the figures: an ASGI app that does nothing, decoding alone, the disk, and the build of
Python.

Each row shows the limit in the peer's column and our figure under the same load next to it. The rows have no
goals. The other Python is the system's Python of the same version, with this Python's packages. Run it with
``python -m bench.ceilings``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec

from bench.appends import CONNECTIONS, OURS
from bench.imports import IMPORT, LINES
from bench.load import answered
from bench.rows import Effort, Row, command, in_turns, per_s
from bench.server import started

ROUNDS: Final = 5
SECONDS: Final = 3.0
OTHER_PYTHON: Final = f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"
SYNCED_BYTES: Final = 4096
"""The approximate size of one commit of a few entries."""


def measure(effort: Effort) -> Iterator[Row]:
    """Yield all ceilings, one after another."""
    yield from _raw_asgi(effort)
    yield from _other_python(effort)
    yield _decoding(effort)
    yield _disk(effort)


def _raw_asgi(effort: Effort) -> Iterator[Row]:
    with started() as server, _empty_app() as empty_url:
        for connections in effort.some(CONNECTIONS):
            ours, ceiling = in_turns(
                effort.rounds(ROUNDS),
                _rate(server.url, connections, effort),
                _rate(empty_url, connections, effort),
            )
            what = f"xadd, {connections} connections, beside an empty ASGI app under the same uvicorn"
            yield _row(what, "none", ours, ceiling)


def _other_python(effort: Effort) -> Iterator[Row]:
    """Yield the same server in a differently built interpreter; nothing if there is none."""
    if not Path(OTHER_PYTHON).exists() or Path(OTHER_PYTHON).samefile(sys.executable):
        return
    packages = {"PYTHONPATH": os.pathsep.join([sysconfig.get_path("purelib"), os.getcwd()])}  # noqa: PTH109
    with started() as server, started(python=OTHER_PYTHON, environment=packages) as other:
        for connections in effort.some(CONNECTIONS):
            ours, theirs = in_turns(
                effort.rounds(ROUNDS),
                _rate(server.url, connections, effort),
                _rate(other.url, connections, effort),
            )
            what = f"xadd, {connections} connections, in this Python beside {OTHER_PYTHON}"
            yield _row(what, "none", ours, theirs)


def _decoding(effort: Effort) -> Row:
    """Bulk appends, compared with msgspec decoding the same lines into dicts."""
    decode = msgspec.json.Decoder(dict[str, str]).decode_lines
    body = IMPORT.body.encode()
    assert len(decode(body)) == LINES

    def decoded_per_s() -> float:
        until_s = time.perf_counter() + effort.seconds(SECONDS)
        began_s, count = time.perf_counter(), 0
        while time.perf_counter() < until_s:
            decode(body)
            count += LINES
        return count / (time.perf_counter() - began_s)

    with started() as server:
        ours, ceiling = in_turns(
            effort.rounds(ROUNDS),
            lambda: LINES * answered(server.url, IMPORT, 2, effort.seconds(SECONDS)).per_s,
            decoded_per_s,
        )
    return _row("entries:import, entries, beside msgspec alone on the same lines", "none", ours, ceiling)


def _disk(effort: Effort) -> Row:
    """Return the rate of one client that waits for each response, compared with the syncs per second of the
    disk."""
    with started("always") as server, tempfile.NamedTemporaryFile() as file:
        ours, ceiling = in_turns(
            effort.rounds(ROUNDS),
            _rate(server.url, 1, effort),
            lambda: _syncs_per_s(file.fileno(), effort.seconds(SECONDS)),
        )
    what = f"xadd, 1 connection, beside fdatasync of {SYNCED_BYTES} bytes more"
    return _row(what, "always", ours, ceiling)


def _syncs_per_s(descriptor: int, seconds: float) -> float:
    page = os.urandom(SYNCED_BYTES)
    began_s, count = time.perf_counter(), 0
    while time.perf_counter() < began_s + seconds:
        os.write(descriptor, page)
        os.fdatasync(descriptor)
        count += 1
    return count / (time.perf_counter() - began_s)


@contextmanager
def _empty_app() -> Iterator[str]:
    with subprocess.Popen(
        [sys.executable, "-m", "bench.raw_asgi"], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def _rate(url: str, connections: int, effort: Effort) -> Callable[[], float]:
    """Return a function that measures appends a second at `url`."""
    return lambda: answered(url, OURS, connections, effort.seconds(SECONDS)).per_s


def _row(what: str, durability: str, ours: float, ceiling: float) -> Row:
    return Row(None, what, durability, per_s(ours), per_s(ceiling), ours / ceiling, "", None)


if __name__ == "__main__":
    command(measure, __doc__)
