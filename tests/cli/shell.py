"""Commands of the shell as a user runs them: in a pipe, or on a terminal.

It owns the processes that it starts, and ends each by its id.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tests.support.server_process import COLOURS_OUTPUT, TAILRACE
from tests.support.warm_process import WarmProcess, run

WITHIN_S: Final = 60
TERMINAL_SIZE: Final = (40, 160)
_HOME: Final = Path(tempfile.mkdtemp(prefix="tailrace-cli-"))
atexit.register(shutil.rmtree, _HOME, ignore_errors=True)
_CONTROL: Final = re.compile(rb"\x1b(?:\[[0-9;?]*[a-zA-Z]|[()][A-Z0-9])")
_ASKS_FOR_CURSOR: Final = b"\x1b[6n"
_CURSOR: Final = b"\x1b[1;1R"


def environment(**extra: str) -> dict[str, str]:
    """This process's environment without what would change how commands behave."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("TAILRACE_") and name not in COLOURS_OUTPUT
    }
    # The contexts and the history of the user who runs the tests do not count.
    kept |= {"XDG_CONFIG_HOME": str(_HOME), "XDG_STATE_HOME": str(_HOME)}
    return {**kept, "COLUMNS": "200", "TAILRACE_COMPLETION_TIMEOUT_S": str(WITHIN_S), **extra}


def shell(
    url: str, *arguments: str | bytes, stdin: bytes = b"", extra: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run one command in pipes to its end."""
    return run(arguments, environment(TAILRACE_URL=url, **(extra or {})), stdin=stdin, within_s=WITHIN_S)


class Background:
    """A command that runs in the background of a test; its output is read line by line."""

    def __init__(self, url: str, *arguments: str) -> None:
        (ours, theirs), (our_errors, their_errors) = os.pipe(), os.pipe()
        with os.fdopen(theirs, "wb"), os.fdopen(their_errors, "wb"):
            variables = environment(TAILRACE_URL=url, PYTHONUNBUFFERED="1")
            self.process = WarmProcess(arguments, variables, stdout=theirs, stderr=their_errors)
        self.stdout, self.stderr = os.fdopen(ours, "rb", buffering=0), os.fdopen(our_errors, "rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait(WITHIN_S)
        self.stdout.close()
        self.stderr.close()

    def lines(self, count: int) -> list[str]:
        """The next lines of output."""
        return [self._line() for _ in range(count)]

    def _line(self) -> str:
        ready, _, _ = select.select([self.stdout], [], [], WITHIN_S)
        assert ready, "no line came"
        return self.stdout.readline().decode().rstrip("\n")

    def interrupt(self) -> int:
        """Send what Ctrl-C sends; the exit status."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(WITHIN_S)


class Terminal:
    """A command on a terminal of its own. A test presses keys and waits for text on the screen."""

    def __init__(
        self, url: str, *arguments: str, state: Path, program: Sequence[str | Path] = (TAILRACE,)
    ) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", *TERMINAL_SIZE, 0, 0))
        extra = {"TERM": "xterm", "XDG_STATE_HOME": str(state), "TAILRACE_URL": url}
        self.process = subprocess.Popen(
            [*program, *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment(**extra),
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - Ctrl-C needs a terminal
        )
        os.close(slave)
        self.raw = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait(WITHIN_S)
        os.close(self._master)

    def type(self, keys: str) -> None:
        """Press keys, and forget the text shown so far."""
        self.raw = b""
        os.write(self._master, keys.encode())

    def shown(self, text: str) -> str:
        """Return the text since the last keys, as soon as it contains `text`. Without control sequences."""
        deadline_s = time.monotonic() + WITHIN_S
        while text not in (seen := _CONTROL.sub(b"", self.raw).decode("utf-8", "replace")):
            assert time.monotonic() < deadline_s, f"{text!r} was not shown, but {seen!r}"
            self._read()
        return seen

    def sent(self, control: bytes) -> None:
        """Come back once the terminal was sent that control sequence."""
        deadline_s = time.monotonic() + WITHIN_S
        while control not in self.raw:
            assert time.monotonic() < deadline_s, f"{control!r} was not sent, but {self.raw!r}"
            self._read()

    def wait(self) -> int:
        """Wait for the end of the command, read its remaining output, and return the exit status."""
        deadline_s = time.monotonic() + WITHIN_S
        while self.process.poll() is None:
            assert time.monotonic() < deadline_s, "it does not end"
            self._read()
        return self.process.returncode

    def _read(self) -> None:
        if not select.select([self._master], [], [], 0.1)[0]:
            return
        try:
            came = os.read(self._master, 65536)
        except OSError:
            # The other end is closed: the command has ended.
            return
        self.raw += came
        if _ASKS_FOR_CURSOR in came:
            os.write(self._master, _CURSOR)
