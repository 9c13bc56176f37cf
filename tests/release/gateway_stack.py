"""Runs `docker/compose.gateways.yaml` without containers, and kills a part of it. Run it with ``make
stack-test``.

The commands, the environments, the job that makes the Cluster, and the configuration of nginx are those of
the files. The names of the services are addresses of loopback in a network and a file of hosts of their own
(`unshare`), so it needs root, and no other process sees the ports. What only a container does (users,
volumes, restarts) is not shown here: `make image-test` runs the image.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import yaml

from tests.release.stack_checks import check
from tests.release.stack_processes import Processes
from tests.support.dockerfile import ROOT
from tests.support.redis_server import find_redis_8_10

COMPOSE: Final = ROOT / "docker/compose.gateways.yaml"
NGINX: Final = ROOT / "docker/gateways/nginx.conf"
INSIDE: Final = "TAILRACE_STACK"
BALANCER: Final = "127.0.3.1"


def address_of(service: str) -> str:
    """Return the address of a node, a gateway or the balancer."""
    kind, _, number = service.partition("-")
    return {"node": f"127.0.1.{number}", "gateway": f"127.0.2.{number}"}.get(kind, BALANCER)


def services() -> dict[str, Any]:
    """Return the services of the compose file, with `$$` as an engine reads it."""
    found: dict[str, Any] = yaml.safe_load(COMPOSE.read_text().replace("$$", "$"))["services"]
    return found


def enter() -> int:
    """Run this program again in a network of its own, where the services have their names."""
    with tempfile.TemporaryDirectory(prefix="tr-") as scratch:
        hosts = Path(scratch) / "hosts"
        lines = [f"{address_of(name)} {name}" for name in services() if name != "cluster"]
        hosts.write_text("\n".join(["127.0.0.1 localhost", *lines, ""]))
        program = f"exec {sys.executable} -m tests.release.gateway_stack"
        script = f"mount --bind {hosts} /etc/hosts && ip link set lo up && {program}"
        words = ["unshare", "--net", "--mount", "sh", "-euc", script]
        return subprocess.run(words, env={**os.environ, INSIDE: "1"}, check=False).returncode


def run() -> None:
    """Start the stack, check it, and stop it."""
    with tempfile.TemporaryDirectory(prefix="tr-") as scratch, Processes(Path(scratch)) as processes:
        found = services()
        for name in (each for each in found if each.startswith("node-")):
            start_node(processes, name, found[name])
        processes.run_once(*found["cluster"]["command"])
        token = processes.run_once(
            *(processes.tailrace, "token", "create", "ops", "--tokens-file", str(processes.tokens)),
            *("--scope", "read", "--scope", "append", "--scope", "consume", "--scope", "admin"),
        )
        for name in (each for each in found if each.startswith("gateway-")):
            start_gateway(processes, name, found[name])
        start_balancer(processes)
        check(processes, f"http://{BALANCER}:8080", token.strip().splitlines()[-1])


def start_node(processes: Processes, name: str, service: dict[str, Any]) -> None:
    """Start a node with the command of the file."""
    executable = find_redis_8_10()
    assert executable is not None, "Redis 8.10.2 is needed: make setup"
    _, *options = service["command"]
    address = address_of(name)
    place = ["--bind", address, "--bind-source-addr", address, "--dir", str(processes.place(name))]
    processes.start(name, [executable, *options, *place], {}, (address, 6379))


def start_gateway(processes: Processes, name: str, service: dict[str, Any]) -> None:
    """Start a gateway with the environment of the file."""
    environment = {each: str(value) for each, value in service["environment"].items()}
    environment["TAILRACE_TOKENS_FILE"] = str(processes.tokens)
    environment["TAILRACE_DATA_DIR"] = str(processes.place(name))
    words = [processes.tailrace, "serve", "--host", address_of(name), "--port", "8080"]
    processes.start(name, words, environment, (address_of(name), 8080))


def start_balancer(processes: Processes) -> None:
    """Start nginx with the configuration of the file, on the address of the balancer."""
    text, count = re.subn(r"listen 8080;", f"listen {BALANCER}:8080;", NGINX.read_text())
    assert count == 1
    place = processes.place("balancer")
    (place / "nginx.conf").write_text(text)
    globally = f"daemon off; pid {place}/pid; error_log {place}/error.log;"
    words = ["nginx", "-p", str(place), "-c", str(place / "nginx.conf"), "-g", globally]
    processes.start("balancer", words, {}, (BALANCER, 8080))


if __name__ == "__main__":
    if os.environ.get(INSIDE):
        run()
    else:
        sys.exit(enter())
