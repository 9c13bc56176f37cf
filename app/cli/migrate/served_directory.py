"""A data directory as the target of a migration: a private server runs on it until the migration ends.

So everything that is written is durable before it counts, and the lock of the directory keeps other servers
away. The server listens on loopback, on a free port, and accepts one token, which exists only for this
migration.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tailrace.app.cli.client.http_client import Server
from tailrace.app.cli.migrate.port import CannotMigrate
from tailrace.app.clock import system_clock_ms
from tailrace.app.tokens.file import changing_tokens
from tailrace.app.tokens.tokens import new_token

STOP_WITHIN_S: Final = 60
_READY: Final = re.compile(r"is ready on (\S+)\n")


@contextmanager
def served(directory: Path) -> Iterator[Server]:
    """Run a server on `directory`, which is created if it does not exist; yield a client of it."""
    with TemporaryDirectory(prefix="tailrace-migrate-") as scratch:
        token = new_token("migrate", ("read", "append", "consume", "admin"), ["*"], system_clock_ms(), None)
        tokens_file = Path(scratch) / "tokens.json"
        with changing_tokens(tokens_file) as tokens:
            tokens.append(token.record)
        process = _started(directory, tokens_file, Path(scratch) / "log")
        try:
            with Server(_address(process, Path(scratch) / "log"), token.text) as server:
                yield server
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(STOP_WITHIN_S)
            assert process.stdout is not None
            process.stdout.close()


def _started(directory: Path, tokens_file: Path, log: Path) -> subprocess.Popen[str]:
    options = ("--host", "127.0.0.1", "--port", "0", "--data-dir", str(directory))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TAILRACE_")}
    with log.open("wb") as stderr:
        return subprocess.Popen(  # noqa: S603 - this program itself
            [sys.executable, "-m", "tailrace", "serve", *options],
            env={**environment, "TAILRACE_TOKENS_FILE": str(tokens_file)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            # Ctrl-C is for the migration, which then stops the server.
            start_new_session=True,
        )


def _address(process: subprocess.Popen[str], log: Path) -> str:
    assert process.stdout is not None
    found = _READY.search(process.stdout.readline())
    if found is None:
        process.wait(STOP_WITHIN_S)
        said = log.read_text(errors="replace").strip().splitlines()
        raise CannotMigrate(f"no server can run on the directory: {said[-1] if said else 'it ended'}")
    return found[1]
