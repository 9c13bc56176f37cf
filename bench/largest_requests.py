"""The largest requests that the server accepts, one at a time, while an honest client is served.

For each operation, one client sends the request that costs the server most within the limits, while an honest
client appends and reads, one request after another. The report shows for each case: the status, the processor
time of the server's event loop, the longest delay of the honest client, and the peak memory. A case fails if
the server refuses its request, unless it measures a refusal. Run it with
``python -m bench.largest_requests``; ``--only text`` selects cases by name.
"""

from __future__ import annotations

import argparse
import http.client
import multiprocessing
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from bench.largest_cases import CASES
from bench.largest_streams import Case, Request, State
from bench.server import Started, started

DELAY_GOAL_MS: Final = 100
MEMORY_GOAL_MIB: Final = 256
MIB: Final = 1 << 20
NS_PER_S: Final = 1_000_000_000
PAUSE_S: Final = 0.001
ANSWER_WITHIN_S: Final = 600
REFUSAL: Final = 400
"""The lowest status of a response that refuses the request."""


class Measured(NamedTuple):
    """The result of a case. `loop_ms`: processor time of the event loop. `delay_ms`: the honest client's
    longest wait. `is_answered`: whether the server did what the requests asked, or refused them as the case
    says.
    """

    name: str
    statuses: str
    loop_ms: float
    delay_ms: float
    peak_mib: float
    is_answered: bool

    @property
    def is_met(self) -> bool:
        """Whether both goals are met by the work that the case names."""
        return self.is_answered and self.delay_ms <= DELAY_GOAL_MS and self.peak_mib <= MEMORY_GOAL_MIB

    def line(self) -> str:
        """Return the line to print."""
        return (
            f"{self.name:52} {self.statuses:>8} {self.loop_ms:9.0f} ms {self.delay_ms:9.1f} ms "
            f"{self.peak_mib:7.0f} MiB  {self._verdict}"
        )

    @property
    def _verdict(self) -> str:
        if not self.is_answered:
            return "wrong status"
        return "" if self.is_met else "missed"


# --- the honest client, in a process of its own --------------------------------------------------------


def _honest(url: str, orders: Connection) -> None:
    """Append and read; each report on request contains the longest delay since the last one."""
    connection = _connected(url)
    longest_s = 0.0
    while True:
        for method, path, body in (
            ("POST", "/v1/streams/honest/entries", b'{"fields":{"rider":"Castilla"}}'),
            ("GET", "/v1/streams/honest/entries?order=desc&count=1", None),
        ):
            begin_s = time.perf_counter()
            connection.request(method, path, body, {"content-type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            assert answer.status in {200, 201}, answer.status
            longest_s = max(longest_s, time.perf_counter() - begin_s)
        while orders.poll():
            if orders.recv() == "stop":
                return
            orders.send(longest_s * 1000)
            longest_s = 0.0
        time.sleep(PAUSE_S)


@contextmanager
def _honest_client(url: str) -> Iterator[Connection]:
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_honest, args=(url, theirs), daemon=True)
    process.start()
    try:
        yield ours
    finally:
        ours.send("stop")
        process.join(ANSWER_WITHIN_S)


def _delay_ms(honest: Connection) -> float:
    honest.send("report")
    return float(honest.recv())


# --- the server's work ---------------------------------------------------------------------------------


def _loop_s(server: Started) -> float:
    """Processor time of the server's first thread, which runs its event loop."""
    busy_ns, *_ = Path(f"/proc/{server.process_id}/task/{server.process_id}/schedstat").read_text().split()
    return int(busy_ns) / NS_PER_S


def _forget_peak(server: Started) -> None:
    Path(f"/proc/{server.process_id}/clear_refs").write_text("5")


def _memory_bytes(server: Started, name: str) -> int:
    status = Path(f"/proc/{server.process_id}/status").read_text()
    [line] = [line for line in status.splitlines() if line.startswith(name)]
    return int(line.split()[1]) * 1024


# --- measuring -----------------------------------------------------------------------------------------


def _connected(url: str) -> http.client.HTTPConnection:
    parts = urlsplit(url)
    assert parts.hostname
    return http.client.HTTPConnection(parts.hostname, parts.port, timeout=ANSWER_WITHIN_S)


def _ask(connection: http.client.HTTPConnection, request: Request) -> int:
    connection.request(request.method, request.path, request.body, request.headers)
    answer = connection.getresponse()
    while answer.read(MIB):
        pass
    return answer.status


def _measure(server: Started, honest: Connection, case: Case, state: State) -> Measured:
    connection = _connected(server.url)
    for request in case.prepare(state):
        status = _ask(connection, request)
        assert status < REFUSAL, (case.name, request.path, status)
    requests = list(case.requests(state))
    _delay_ms(honest)
    before_bytes = _memory_bytes(server, "VmRSS")
    _forget_peak(server)
    begin_s = _loop_s(server)
    statuses = [_ask(connection, request) for request in requests]
    loop_s = _loop_s(server) - begin_s
    delay_ms = _delay_ms(honest)
    peak_bytes = _memory_bytes(server, "VmHWM") - before_bytes
    shown = ",".join(sorted({str(status) for status in statuses}))
    is_answered = case.is_refused or all(status < REFUSAL for status in statuses)
    return Measured(case.name, shown, loop_s * 1000, delay_ms, peak_bytes / MIB, is_answered)


def measured(cases: Sequence[Case], state: State) -> Iterator[Measured]:
    """Run each case on one server without durability."""
    with started("none") as server, _honest_client(server.url) as honest:
        _delay_ms(honest)
        for case in cases:
            yield _measure(server, honest, case, state)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and list the cases that miss the goals. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="measure only the cases whose name contains this text")
    parser.add_argument(
        "--scale", type=float, default=1.0, help="how large the streams are: 1 is 1 000 000 entries"
    )
    options = parser.parse_args(arguments)
    cases = [case for case in CASES if options.only in case.name]
    print(f"{'case':52} {'status':>8} {'event loop':>12} {'longest delay':>12} {'memory':>11}")
    missed = 0
    for row in measured(cases, State(options.scale)):
        print(row.line(), flush=True)
        missed += not row.is_met
    goal = f"at most {DELAY_GOAL_MS} ms and {MEMORY_GOAL_MIB} MiB"
    print(f"goal: {goal} for each request: {f'{missed} of {len(cases)} missed' if missed else 'met'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
