"""Requests as real clients send them, compared with webdis and Redis (row 23 of docs/performance.md).

The other benches repeat the short head of `wrk`. Browsers, proxies and SDKs send more headers, some of them
with another value each time, and applications write to many streams. Each kind of traffic here is one of
these. Both sides get the same headers and use the same keys, in turns. The figure is processor time per
request of all processes of a side. Run it with ``python -m bench.traffic``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple
from urllib.request import urlopen

from bench import peers
from bench.load import answered, quoted
from bench.rows import Effort, Row, command, medians_in_turns
from bench.server import Started, busy_s, started

ROUNDS: Final = 5
SECONDS: Final = 2.0
WARM_UP_S: Final = 1.0
CONNECTIONS: Final = 16
STREAMS: Final = 5_000

GOAL_STABLE: Final = (1.4, 0.5)
GOAL_UNIQUE: Final = (2.0, 0.7)
"""The most processor time of a kind: as a multiple of the bare head's, and of the peer's."""

BARE: Final = "bare head"


class Traffic(NamedTuple):
    """One kind of traffic. In `headers`, ``@`` is a number that rises with each request. `streams`: how many
    streams the requests use in turn."""

    headers: Mapping[str, str]
    streams: int = 1

    @property
    def is_unique(self) -> bool:
        """Whether each request has a head of its own."""
        return any("@" in value for value in self.headers.values())

    @property
    def goal(self) -> tuple[float, float]:
        """The goal of this kind."""
        return GOAL_UNIQUE if self.is_unique else GOAL_STABLE


_BROWSER: Final = {
    "connection": "keep-alive",
    "sec-ch-ua-platform": '"Linux"',
    "user-agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/142.0.0.0 Safari/537.36",
    "sec-ch-ua": '"Chromium";v="142", "Google Chrome";v="142", "Not_A Brand";v="99"',
    "content-type": "application/json",
    "sec-ch-ua-mobile": "?0",
    "accept": "*/*",
    "origin": "http://localhost:8080",
    "Host": "localhost:8080",
    "sec-fetch-site": "same-origin",
    "sec-fetch-mode": "cors",
    "sec-fetch-dest": "empty",
    "referer": "http://localhost:8080/app/orders",
    "accept-encoding": "gzip, deflate, br, zstd",
    "accept-language": "en-US,en;q=0.9,de;q=0.8",
}
_PROXY: Final = {
    "Host": "localhost:8080",
    "x-real-ip": "203.0.113.7",
    "x-forwarded-for": "203.0.113.7",
    "x-forwarded-proto": "https",
    "x-forwarded-host": "streams.example.com",
}
_TRACE: Final = {"traceparent": "00-0af7651916cd43dd8448eb21@-b7ad6b71@-01"}

KINDS: Final[Mapping[str, Traffic]] = {
    BARE: Traffic({}),
    "5 000 streams": Traffic({}, STREAMS),
    "Node's fetch": Traffic(
        {
            "connection": "keep-alive",
            "accept": "*/*",
            "accept-language": "*",
            "sec-fetch-mode": "cors",
            "user-agent": "node",
            "accept-encoding": "gzip, deflate",
        }
    ),
    "a browser": Traffic(_BROWSER),
    "axios": Traffic(
        {
            "accept": "application/json, text/plain, */*",
            "user-agent": "axios/1.13.2",
            "accept-encoding": "gzip, compress, deflate, br",
            "connection": "keep-alive",
        }
    ),
    "a proxy": Traffic(_PROXY),
    "a cookie": Traffic({"cookie": "session=8f14e45fceea167a5a36dedd4bea2543; theme=dark; consent=1"}),
    "a trace context": Traffic(_TRACE),
    "a proxy, traced": Traffic({**_PROXY, **_TRACE}),
    "a request id": Traffic({"x-request-id": "4f1c2a9e-@"}),
    "an idempotency key": Traffic({"producer-id": "gate-1", "idempotency-key": "7d0f-@"}),
    "a proxy and a browser, traced, 5 000 streams": Traffic({**_BROWSER, **_PROXY, **_TRACE}, STREAMS),
}

_SCRIPT: Final = """
wrk.method = %(method)s
wrk.body = %(body)s
%(headers)s
local format, streams, number, parts = string.format, %(streams)d, 0, {}
function setup(thread) seed = (seed or 0) + 1; thread:set("seed", seed) end
function init()
  number = seed * 1000000000000 + %(start)d
  local raw = wrk.format(nil, %(path)s)
  local from = 1
  while true do
    local at = raw:find("[@~]", from)
    if at == nil then break end
    parts[#parts + 1] = {raw:sub(from, at - 1), raw:sub(at, at)}
    from = at + (raw:sub(at, at) == "@" and 1 or 4)
  end
  last = raw:sub(from)
end
function request()
  number = number + 1
  local made = ""
  for _, part in ipairs(parts) do
    local own = part[2] == "@" and format("%%.0f", number) or format("%%04d", number %% streams)
    made = made .. part[1] .. own
  end
  return made .. last
end
"""


class Requests(NamedTuple):
    """A load of one kind. In `path` and `body`, ``~~~~`` is the number of the stream. `start`: the
    first number."""

    path: str
    body: str
    traffic: Traffic
    start: int = 0

    def script(self) -> str:
        """Return the load as a script for wrk."""
        headers = dict(self.traffic.headers)
        if self.body:
            headers.setdefault("content-type", "application/json")
        return _SCRIPT % {
            "method": '"POST"' if self.body else '"GET"',
            "path": quoted(self.path),
            "body": quoted(self.body) if self.body else "nil",
            "headers": "\n".join(f"wrk.headers[ {quoted(n)} ] = {quoted(v)}" for n, v in headers.items()),
            "streams": self.traffic.streams,
            "start": self.start,
        }


class Operation(NamedTuple):
    """One operation: our path and body, the peer's path, and the commands that prepare a stream on both."""

    path: str
    body: str
    peer_path: str
    prepared: Sequence[Sequence[str]] = ()


_ENTRIES: Final = tuple(("XADD", "bench:~~~~", f"{number}-1", "field", "value1") for number in range(1, 101))
_GROUP: Final = (
    *_ENTRIES[:1],
    ("XGROUP", "CREATE", "bench:~~~~", "g", "0"),
    ("XREADGROUP", "GROUP", "g", "c", "COUNT", "1", "STREAMS", "bench:~~~~", ">"),
)

OPERATIONS: Final[Mapping[str, Operation]] = {
    "group read": Operation(
        "/v1/read-group",
        '{"group":"g","consumer":"c","count":1,"streams":[{"key":"bench:~~~~","id":"0"}]}',
        "/XREADGROUP/GROUP/g/c/COUNT/1/STREAMS/bench:~~~~/0",
        _GROUP,
    ),
    "ack": Operation(
        "/v1/streams/bench:~~~~/groups/g:ack", '{"ids":["5-5"]}', "/XACK/bench:~~~~/g/5-5", _GROUP
    ),
    "range of 100": Operation(
        "/v1/streams/bench:~~~~/entries?count=100", "", "/XRANGE/bench:~~~~/-/+/COUNT/100", _ENTRIES
    ),
    "wait of 1 ms": Operation(
        "/v1/read",
        '{"streams":[{"key":"bench:~~~~","after":"$"}],"wait_ms":1}',
        "/XREAD/BLOCK/1/STREAMS/bench:~~~~/$",
        _ENTRIES[:1],
    ),
}
APPEND: Final = Operation(
    "/v1/streams/bench:~~~~/entries", '{"fields":{"field":"value1"}}', "/XADD/bench:~~~~/*/field/value1"
)
OF_OPERATIONS: Final = (BARE, "a browser", "a proxy, traced", "5 000 streams")
"""The kinds of traffic that operations other than appends are measured with."""


def measure(effort: Effort) -> Iterator[Row]:
    """Yield row 23."""
    yield from _rows(effort, "append", APPEND, effort.some(tuple(KINDS)))
    for name, operation in effort.some(tuple(OPERATIONS.items())):
        yield from _rows(effort, name, operation, effort.some(OF_OPERATIONS))


def _rows(effort: Effort, name: str, operation: Operation, kinds: Sequence[str]) -> Iterator[Row]:
    bare_us = 0.0
    for kind in kinds:
        traffic = KINDS[kind]
        with started("none") as server, peers.webdis("none") as peer:
            ours, theirs = _medians_us(effort, operation, traffic, server, peer)
        bare_us = ours if kind == BARE else bare_us
        of_bare, of_peer = traffic.goal
        yield Row(
            23,
            f"{name}, {kind}: processor time; {ours / bare_us:.2f} x the bare head",
            "none",
            f"{ours:.1f} us",
            f"{theirs:.1f} us",
            ours / theirs,
            f"<= {of_bare:g} x bare, <= {of_peer:g} x",
            ours <= of_bare * bare_us and ours <= of_peer * theirs,
        )


def _medians_us(
    effort: Effort, operation: Operation, traffic: Traffic, server: Started, peer: peers.Webdis
) -> Sequence[float]:
    seconds = effort.seconds(SECONDS)
    ours = Requests(operation.path, operation.body, traffic)
    theirs = Requests(operation.peer_path, "", traffic)
    _prepare(operation, traffic.streams, server, peer)
    _us(server.url, ours, (server.process_id,), WARM_UP_S)
    _us(peer.url, theirs, peer.process_ids, WARM_UP_S)
    starts = iter(range(100_000_000, 2_000_000_000, 10_000_000))
    medians = medians_in_turns(
        effort.rounds(ROUNDS),
        _single(lambda: _us(server.url, ours._replace(start=next(starts)), (server.process_id,), seconds)),
        _single(lambda: _us(peer.url, theirs, peer.process_ids, seconds)),
    )
    return [figure for (figure,) in medians]


def _prepare(operation: Operation, streams: int, server: Started, peer: peers.Webdis) -> None:
    for number in range(streams if operation.prepared else 0):
        commands = [[word.replace("~~~~", f"{number:04}") for word in words] for words in operation.prepared]
        server.post("/v1/command/pipeline", json.dumps(commands).encode())
        for words in commands:
            with urlopen(f"{peer.url}/{'/'.join(words)}") as response:  # noqa: S310 - it is http
                response.read()


def _single(measure_once: Callable[[], float]) -> Callable[[], Sequence[float]]:
    return lambda: (measure_once(),)


def _us(url: str, load: Requests, process_ids: tuple[int, ...], seconds: float) -> float:
    """Return the processor time of one request, in microseconds."""
    before_s = busy_s(*process_ids)
    requests = answered(url, load, CONNECTIONS, seconds).requests
    return (busy_s(*process_ids) - before_s) * 1e6 / requests


if __name__ == "__main__":
    command(measure, __doc__)
