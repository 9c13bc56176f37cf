"""What durability costs: single appends a second by clients, under always, interval and none.

One `wrk` connection a client, over loopback; a new server and directory for each setting, removed at the
end. A client waits for its answer before it sends again, so with `always` and one client the figure is
the disk's syncs a second, and more clients share them. Run it with ``python -m bench.durability``.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.server import server_at

SETTINGS = ("always", "interval", "none")
CLIENTS = (1, 16, 64, 256)
WRK_THREADS_MAX = 2
SCRIPT = """
wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
wrk.body = '{"fields":{"rider":"Castilla","speed":"30.2","position":"1","location_id":"1"}}'
"""
RATE = re.compile(r"Requests/sec:\s+([\d.]+)")
REFUSED = re.compile(r"Non-2xx or 3xx responses: (\d+)")


def appends_per_s(url: str, clients: int, seconds: float, script: Path) -> float:
    """The rate at which so many clients get their appends acknowledged."""
    load = ["-t", str(min(clients, WRK_THREADS_MAX)), "-c", str(clients), "-d", f"{seconds:g}s"]
    command = ["wrk", *load, "-s", str(script), f"{url}/v1/streams/bench:{clients}/entries"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    if refused := REFUSED.search(result.stdout):
        raise SystemExit(f"{refused[1]} appends were refused:\n{result.stdout}")
    found = RATE.search(result.stdout)
    if found is None:
        raise SystemExit(f"wrk said something else:\n{result.stdout}")
    return float(found[1])


def measure(setting: str, seconds: float, script: Path) -> list[float]:
    """The rates under one setting, one a number of clients."""
    with server_at(None, setting) as url:
        return [appends_per_s(url, clients, seconds, script) for clients in CLIENTS]


def main() -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=3, help="how long each cell is measured")
    options = parser.parse_args()
    if shutil.which("wrk") is None:
        raise SystemExit("wrk is needed to make the load: apt-get install wrk")
    with tempfile.TemporaryDirectory() as scratch:
        script = Path(scratch) / "append.lua"
        script.write_text(SCRIPT)
        print("appends/s, one a request, loopback")
        print(f"{'clients':10}" + "".join(f"{clients:>10}" for clients in CLIENTS))
        for setting in SETTINGS:
            rates = measure(setting, options.seconds, script)
            print(f"{setting:10}" + "".join(f"{rate:>10.0f}" for rate in rates), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
