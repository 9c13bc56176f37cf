"""A data directory as the target of a migration: a private server runs on it until the migration ends.

So everything that is written is durable before it counts, and the lock of the directory keeps other servers
away. The server listens on loopback, on a free port, and accepts one token, which exists only for this
migration.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tailrace.app.cli.child_process import STOP_WITHIN_S, running
from tailrace.app.cli.migrate.port import CannotMigrate
from tailrace.app.cli.server import Server
from tailrace.app.clock import system_clock_ms
from tailrace.app.tokens.file import changing_tokens
from tailrace.app.tokens.tokens import new_token
from tailrace.core.storage.schema import DirectoryLock, InUse

FREE_WITHIN_S: Final = 10.0
"""How long the directory may be in use. The server of a migration that was killed needs a moment to stop."""

_LOOK_S: Final = 0.05
_READY: Final = re.compile(r"is ready on (\S+)\n")


@contextmanager
def served(directory: Path) -> Iterator[Server]:
    """Run a server on `directory`, which is created if it does not exist; yield a client of it."""
    _until_free(directory)
    with TemporaryDirectory(prefix="tailrace-migrate-") as scratch:
        token = new_token("migrate", ("read", "append", "consume", "admin"), ["*"], system_clock_ms(), None)
        tokens_file, log = Path(scratch) / "tokens.json", Path(scratch) / "log"
        with changing_tokens(tokens_file) as tokens:
            tokens.append(token.record)
        arguments = ("serve", "--host", "127.0.0.1", "--port", "0", "--data-dir", str(directory))
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TAILRACE_")}
        environment["TAILRACE_TOKENS_FILE"] = str(tokens_file)
        with (
            running(arguments, environment, log) as process,
            Server(_address(process, log), token.text) as server,
        ):
            yield server


def _until_free(directory: Path) -> None:
    """Return when no server uses the directory, after `FREE_WITHIN_S` at the latest."""
    deadline_s = time.monotonic() + FREE_WITHIN_S
    while directory.is_dir() and time.monotonic() < deadline_s:
        try:
            DirectoryLock(directory).release()
        except InUse:
            time.sleep(_LOOK_S)
        except OSError:
            # The server reports why the directory cannot be used.
            return
        else:
            return


def _address(process: subprocess.Popen[str], log: Path) -> str:
    assert process.stdout is not None
    found = _READY.search(process.stdout.readline())
    if found is None:
        process.wait(STOP_WITHIN_S)
        said = log.read_text(errors="replace").strip().splitlines()
        raise CannotMigrate(f"no server can run on the directory: {said[-1] if said else 'it ended'}")
    return found[1]
