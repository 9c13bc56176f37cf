"""Runs `tailrace` as a child process that ends with its parent, however the parent ends.

It is the only place where this program starts another program. The child holds the reading end of a pipe as
its standard input, and the parent holds the other end. When the parent ends, even by SIGKILL, the child reads
the end of the pipe and stops as after SIGTERM.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tailrace.app.cli import main

STOP_WITHIN_S: Final = 60
"""How long a stop may take. Then the child is killed."""

_PIPE: Final = 0


@contextmanager
def running(
    arguments: Sequence[str], environment: Mapping[str, str], log: Path
) -> Iterator[subprocess.Popen[str]]:
    """Run `tailrace` with `arguments`; stop it at the end of the context. Its errors go to the file `log`."""
    with log.open("wb") as errors:
        process = subprocess.Popen(  # noqa: S603 - this program itself
            [sys.executable, "-m", __name__, *arguments],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            # Ctrl-C is for the parent, which then stops the child.
            start_new_session=True,
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(STOP_WITHIN_S)
        except subprocess.TimeoutExpired:
            process.kill()
        # Closes the pipes.
        process.communicate()


def _stop_with_parent() -> None:
    while os.read(_PIPE, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    threading.Thread(target=_stop_with_parent, daemon=True).start()
    main()
