"""Load by `wrk`: repeats one request on a number of connections, and counts the responses a second."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from bench.peers import program

WRK_THREADS_MAX: Final = 2

_RATE: Final = re.compile(r"Requests/sec:\s+([\d.]+)")
_COUNT: Final = re.compile(r"(\d+) requests in")
_REFUSED: Final = re.compile(r"Non-2xx or 3xx responses: (\d+)")


_IN_TURN: Final = """
local bodies, requests, last = { %s }, {}, 0
function init()
  for index, body in ipairs(bodies) do requests[index] = wrk.format(nil, nil, nil, body) end
end
function request()
  last = last %% #requests + 1
  return requests[last]
end
"""


_PIPELINED: Final = """
local all
function init() all = string.rep(wrk.format(), %d) end
function request() return all end
"""


class Load(NamedTuple):
    """A request to repeat. `body`: if empty, the request is a GET. `headers`: further headers besides the
    media type. `more_bodies`: bodies that are sent in turn with `body`. `depth`: how many requests a
    connection sends before it waits for the responses to all of them.
    """

    path: str
    body: str = ""
    media_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    more_bodies: tuple[str, ...] = ()
    depth: int = 1

    def script(self) -> str:
        """Return the request as a script for wrk."""
        headers = dict(self.headers)
        lines = [f"wrk.path = {quoted(self.path)}"]
        if self.body:
            headers["content-type"] = self.media_type
            lines += ['wrk.method = "POST"', f"wrk.body = {quoted(self.body)}"]
        lines += [f"wrk.headers[ {quoted(name)} ] = {quoted(value)}" for name, value in headers.items()]
        if self.depth > 1:
            lines += [_PIPELINED % self.depth]
        if self.more_bodies:
            lines += [_IN_TURN % ", ".join(map(quoted, (self.body, *self.more_bodies)))]
        return "\n".join(lines)


class Script(Protocol):
    """A load that is a script for wrk."""

    def script(self) -> str:
        """Return the script."""
        ...


class Answered(NamedTuple):
    """The result of a load, whose responses were all successful."""

    per_s: float
    requests: int


def answered(url: str, load: Script, connections: int, seconds: float) -> Answered:
    """Send `load` to `url`. The measurement ends if the server refuses a request."""
    with tempfile.TemporaryDirectory() as directory:
        script = Path(directory) / "load.lua"
        script.write_text(load.script())
        threads = min(connections, WRK_THREADS_MAX)
        options = ["-t", str(threads), "-c", str(connections), "-d", f"{max(round(seconds), 1)}s"]
        result = subprocess.run(
            [program("wrk"), *options, "-s", str(script), url], capture_output=True, text=True, check=True
        )
    rate, count = _RATE.search(result.stdout), _COUNT.search(result.stdout)
    # wrk writes errors of the script to standard error, and continues without the script.
    if rate is None or count is None or _REFUSED.search(result.stdout) or result.stderr:
        raise SystemExit(f"the server refused a request of the load:\n{result.stdout}{result.stderr}")
    return Answered(float(rate[1]), int(count[1]))


def quoted(text: str) -> str:
    """Return a string literal of Lua that keeps every character, including newlines."""
    return f"[==[{text}]==]"
