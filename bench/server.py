"""A server to measure: one that runs already, or one started for the time of the measurement."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

READY = re.compile(r"http://\S+")


@contextmanager
def server_at(url: str | None, durability: str = "none") -> Iterator[str]:
    """The URL of the server: `url` where it is given, else that of a new one, which ends with the context."""
    if url is not None:
        yield url.rstrip("/")
        return
    with tempfile.TemporaryDirectory() as directory:
        options = [
            "--port",
            "0",
            "--data-dir",
            directory,
            "--durability",
            durability,
            "--log-level",
            "warning",
        ]
        command = [str(Path(sys.executable).with_name("tailrace")), "serve", *options]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout
            ready = READY.search(process.stdout.readline())
            if ready is None:
                raise SystemExit("the server did not start; its errors stand above")
            yield ready[0]
        finally:
            process.terminate()
            process.wait(30)
