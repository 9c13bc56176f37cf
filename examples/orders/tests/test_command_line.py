"""`python -m orders`: processes of their own on one server, as in production."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from tailrace.testing import TestServer

PROJECT = Path(__file__).parents[1]


def command(tailrace: TestServer, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "orders", *arguments],
        cwd=PROJECT,
        env={**os.environ, "TAILRACE_URL": tailrace.url},
        stdout=subprocess.PIPE,
        text=True,
    )


def printed(tailrace: TestServer, *arguments: str) -> str:
    with command(tailrace, *arguments) as running:
        out, _ = running.communicate(timeout=60)
    assert running.returncode == 0
    return out


def first_line_of_worker(tailrace: TestServer, step: str) -> str:
    """Start a worker, wait for its first line, and stop it as a service manager does."""
    with command(tailrace, "work", step) as running:
        assert running.stdout is not None
        try:
            line = running.stdout.readline()
            running.send_signal(signal.SIGTERM)
            assert running.wait(60) == 0
        finally:
            running.kill()
    return line


def test_an_order_goes_through_three_processes(tailrace: TestServer) -> None:
    assert "-" in printed(tailrace, "place", "1001", "Ann", "bicycle", "49900")
    for step in ("payment", "packing", "mail"):
        assert first_line_of_worker(tailrace, step) == f"{step}: order 1001, bicycle for Ann\n"
    assert printed(tailrace, "letters", "payment") == ""
    assert printed(tailrace, "redrive", "payment") == "0\n"
