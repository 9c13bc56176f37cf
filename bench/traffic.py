"""Requests as real clients send them, compared with webdis and Redis (row 23 of docs/performance.md).

The other benches repeat the short head of `wrk`. Browsers, proxies and SDKs send more headers, some of them
with another value each time, and applications write to many streams. Each kind of traffic here is one of
these. Both sides get the same headers and use the same keys, in turns. The figure is processor time per
request of all processes of a side; a group read and the acknowledgement of its entry are two requests. Run it
with ``python -m bench.traffic``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple
from urllib.parse import quote
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
%(headers)s
local format, streams, number, found = string.format, %(streams)d, 0, {}
local sizes = {["@"] = 1, ["~"] = 4, ["#"] = 9}
local function parts_of(raw)
  local parts, from = {}, 1
  while true do
    local at = raw:find("[@~#]", from)
    if at == nil then return {parts, raw:sub(from)} end
    local mark = raw:sub(at, at)
    parts[#parts + 1] = {raw:sub(from, at - 1), mark}
    from = at + sizes[mark]
  end
end
local function made(request, stream, id)
  local own = {["@"] = format("%%.0f", number), ["~"] = stream, ["#"] = id}
  local text = ""
  for _, part in ipairs(request[1]) do text = text .. part[1] .. own[part[2]] end
  return text .. request[2]
end
function setup(thread) seed = (seed or 0) + 1; thread:set("seed", seed) end
function init()
  number = seed * 1000000000000 + %(start)d
  first = parts_of(wrk.format(nil, %(path)s, nil, %(body)s))
  second = parts_of(wrk.format(nil, %(ack_path)s, nil, %(ack_body)s))
end
function request()
  number = number + 1
  local last = table.remove(found)
  if last then return made(second, last[1], last[2]) end
  return made(first, format("%%04d", number %% streams))
end
"""

_ACKS: Final = """
function response(status, headers, body)
  if body:find(%(acknowledged)s, 1, true) then return end
  local stream, id = body:match(%(delivered)s)
  if id == nil then error("no entry was delivered: " .. body) end
  found[#found + 1] = {stream, id}
end
"""
"""After each read, the entry that it delivered is acknowledged."""


class Acks(NamedTuple):
    """The acknowledgement after a group read. In `path` and `body`, ``#########`` is the id of the entry.

    `delivered`: a pattern of Lua that finds the stream's number and the id in the response to a read;
    `acknowledged`: a text in every response to an acknowledgement, and in no other.
    """

    path: str
    body: str
    delivered: str
    acknowledged: str


class Requests(NamedTuple):
    """A load of one kind. In `path` and `body`, ``~~~~`` is the number of the stream. `start`: the
    first number."""

    path: str
    body: str
    traffic: Traffic
    acks: Acks | None = None
    start: int = 0

    def script(self) -> str:
        """Return the load as a script for wrk."""
        headers = dict(self.traffic.headers)
        if self.body:
            headers.setdefault("content-type", "application/json")
        acks = self.acks or Acks("/", "", "", "")
        script = _SCRIPT % {
            "method": '"POST"' if self.body else '"GET"',
            "headers": "\n".join(f"wrk.headers[ {quoted(n)} ] = {quoted(v)}" for n, v in headers.items()),
            "streams": self.traffic.streams,
            "start": self.start,
            "path": quoted(self.path),
            "body": quoted(self.body) if self.body else "nil",
            "ack_path": quoted(acks.path),
            "ack_body": quoted(acks.body) if acks.body else "nil",
        }
        if self.acks is None:
            return script
        words = {name: quoted(getattr(acks, name)) for name in ("delivered", "acknowledged")}
        return script + _ACKS % words


class Operation(NamedTuple):
    """One operation: our path and body, the peer's path, and the acknowledgements on both sides. `reads`:
    whether it needs streams with entries and a group."""

    path: str
    body: str
    peer_path: str
    acks: Acks | None = None
    peer_acks: Acks | None = None
    reads: bool = True


ENTRIES: Final = 500_000
"""How many entries all streams have together before an operation that reads."""

_BATCH: Final = 1000
_FIRST_ID: Final = 1_000_001
"""The milliseconds of the first id. All ids have as many digits, so that all requests have the same size."""

_FLATTEN: Final = """
local function flat(all, value)
  if type(value) ~= "table" then all[#all + 1] = value return all end
  for _, each in ipairs(value) do flat(all, each) end
  return all
end
return flat({}, redis.call(unpack(ARGV)))
"""
"""Runs a command on the peer. webdis leaves out replies in replies, such as entries, so this returns one list
of all keys, ids, fields and values."""

_FLAT: Final = f"/EVALSHA/{hashlib.sha1(_FLATTEN.encode(), usedforsecurity=False).hexdigest()}/0"

OPERATIONS: Final[Mapping[str, Operation]] = {
    "group read + ack": Operation(
        "/v1/read-group",
        '{"group":"g","consumer":"c","count":1,"streams":[{"key":"bench:~~~~"}]}',
        f"{_FLAT}/XREADGROUP/GROUP/g/c/COUNT/1/STREAMS/bench:~~~~/>",
        Acks(
            "/v1/streams/bench:~~~~/groups/g:ack",
            '{"ids":["#########"]}',
            '"bench:(%d+)".-"id":"(%d+%-%d+)"',
            '"acknowledged"',
        ),
        Acks("/XACK/bench:~~~~/g/#########", "", '"bench:(%d+)","(%d+%-%d+)"', '"XACK"'),
    ),
    "range of 100": Operation(
        "/v1/streams/bench:~~~~/entries?count=100", "", f"{_FLAT}/XRANGE/bench:~~~~/-/%2b/COUNT/100"
    ),
    "wait of 1 ms": Operation(
        "/v1/read",
        '{"streams":[{"key":"bench:~~~~","after":"$"}],"wait_ms":1}',
        "/XREAD/BLOCK/1/STREAMS/bench:~~~~/$",
    ),
}
APPEND: Final = Operation(
    "/v1/streams/bench:~~~~/entries",
    '{"fields":{"field":"value1"}}',
    "/XADD/bench:~~~~/*/field/value1",
    reads=False,
)
OF_OPERATIONS: Final = (BARE, "a browser", "a proxy, traced", "5 000 streams")
"""The kinds of traffic that operations other than appends are measured with."""


def measure(effort: Effort) -> Iterator[Row]:
    """Yield row 23."""
    yield from _rows(effort, "append", APPEND, effort.some(tuple(KINDS)))
    for name, operation in effort.some(tuple(OPERATIONS.items())):
        yield from _rows(effort, name, operation, effort.some(OF_OPERATIONS))


def _rows(effort: Effort, name: str, operation: Operation, kinds: Sequence[str]) -> Iterator[Row]:
    bare_us: float | None = None
    for kind in kinds:
        what = f"{name}, {kind}: processor time of a request"
        if not effort.covers(what):
            continue
        traffic = KINDS[kind]
        with started("none") as server, peers.webdis("none") as peer:
            ours, theirs = _medians_us(effort, operation, traffic, server, peer)
        bare_us = ours if kind == BARE else bare_us
        of_bare, of_peer = traffic.goal
        is_short = ours > of_peer * theirs or (bare_us is not None and ours > of_bare * bare_us)
        yield Row(
            23,
            what if bare_us is None else f"{what}; {ours / bare_us:.2f} x the bare head",
            "none",
            f"{ours:.1f} us",
            f"{theirs:.1f} us",
            ours / theirs,
            f"<= {of_bare:g} x bare, <= {of_peer:g} x",
            not is_short,
        )


def _medians_us(
    effort: Effort, operation: Operation, traffic: Traffic, server: Started, peer: peers.Webdis
) -> Sequence[float]:
    seconds = effort.seconds(SECONDS)
    ours = Requests(operation.path, operation.body, traffic, operation.acks)
    theirs = Requests(operation.peer_path, "", traffic, operation.peer_acks)
    if operation.reads:
        _fill(traffic.streams, server, peer)
    _us(server.url, ours, (server.process_id,), WARM_UP_S)
    _us(peer.url, theirs, peer.process_ids, WARM_UP_S)
    starts = iter(range(100_000_000, 2_000_000_000, 10_000_000))
    medians = medians_in_turns(
        effort.rounds(ROUNDS),
        _single(lambda: _us(server.url, ours._replace(start=next(starts)), (server.process_id,), seconds)),
        _single(lambda: _us(peer.url, theirs, peer.process_ids, seconds)),
    )
    return [figure for (figure,) in medians]


_FILL: Final = """
for stream = 0, %(streams)d - 1 do
  local key = string.format("bench:%%04d", stream)
  for number = %(first)d, %(last)d do redis.call("XADD", key, number .. "-1", "field", "value1") end
  redis.call("XGROUP", "CREATE", key, "g", "0")
end
"""


def _fill(streams: int, server: Started, peer: peers.Webdis) -> None:
    """Append the same entries to the streams of both sides, and create the groups."""
    numbers = range(_FIRST_ID, _FIRST_ID + ENTRIES // streams)
    for stream in range(streams):
        for begin in range(0, len(numbers), _BATCH):
            entries = [
                {"id": f"{ms}-1", "fields": {"field": "value1"}} for ms in numbers[begin : begin + _BATCH]
            ]
            body = json.dumps({"entries": entries}).encode()
            server.post(f"/v1/streams/bench:{stream:04}/entries:batch", body)
        server.command("XGROUP", "CREATE", f"bench:{stream:04}", "g", "0")
    script = _FILL % {"streams": streams, "first": numbers[0], "last": numbers[-1]}
    for command_path in (f"EVAL/{quote(script, safe='')}/0", f"SCRIPT/LOAD/{quote(_FLATTEN, safe='')}"):
        with urlopen(f"{peer.url}/{command_path}") as response:  # noqa: S310 - it is http
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
