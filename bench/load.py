"""Load by `wrk`: one request over and over, on so many connections, and how many a second were answered."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path
from typing import Final, NamedTuple

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


class Load(NamedTuple):
    """One request, to be sent again and again. `body` empty: a GET. `headers`: beside the media type.
    `more_bodies`: sent in turn with `body`."""

    path: str
    body: str = ""
    media_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    more_bodies: tuple[str, ...] = ()

    def script(self) -> str:
        """The request in wrk's language."""
        headers = dict(self.headers)
        lines = [f"wrk.path = {_quoted(self.path)}"]
        if self.body:
            headers["content-type"] = self.media_type
            lines += ['wrk.method = "POST"', f"wrk.body = {_quoted(self.body)}"]
        lines += [f"wrk.headers[ {_quoted(name)} ] = {_quoted(value)}" for name, value in headers.items()]
        if self.more_bodies:
            lines += [_IN_TURN % ", ".join(map(_quoted, (self.body, *self.more_bodies)))]
        return "\n".join(lines)


class Answered(NamedTuple):
    """What became of a load: all of it was a success."""

    per_s: float
    requests: int


def answered(url: str, load: Load, connections: int, seconds: float) -> Answered:
    """How `url` bears `load`; ends the measurement where a request was refused."""
    with tempfile.TemporaryDirectory() as directory:
        script = Path(directory) / "load.lua"
        script.write_text(load.script())
        threads = min(connections, WRK_THREADS_MAX)
        options = ["-t", str(threads), "-c", str(connections), "-d", f"{max(round(seconds), 1)}s"]
        result = subprocess.run(
            [program("wrk"), *options, "-s", str(script), url], capture_output=True, text=True, check=True
        )
    rate, count = _RATE.search(result.stdout), _COUNT.search(result.stdout)
    # What is wrong with the script is said there, and wrk goes on without it.
    if rate is None or count is None or _REFUSED.search(result.stdout) or result.stderr:
        raise SystemExit(f"the load was not answered well:\n{result.stdout}{result.stderr}")
    return Answered(float(rate[1]), int(count[1]))


def _quoted(text: str) -> str:
    """A string of Lua's that keeps every character, newlines too."""
    return f"[==[{text}]==]"
