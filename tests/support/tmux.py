"""A session of Debian's tmux: commands on a real terminal, and the text that its screen shows.

It owns the tmux server that it starts, on a socket of its own, and ends it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import pytest

WITHIN_S: Final = 60
_DONE: Final = "done"


def required_tmux() -> str:
    """Return the path of tmux; without it the test is skipped, which fails under CI."""
    program = shutil.which("tmux")
    if program is None:
        pytest.skip("tmux is not installed: apt-get install tmux")
    return program


class Tmux:
    """A shell on a terminal of `columns` times `rows`. `directory`: its working directory."""

    def __init__(
        self, directory: Path, environment: Mapping[str, str], *, columns: int = 80, rows: int = 24
    ) -> None:
        self._tmux = [required_tmux(), "-S", str(directory / "tmux.socket"), "-f", "/dev/null"]
        # A single word would be run by another shell, which drops PS1.
        shell = ("bash", "--noprofile", "--norc")
        size = ("-x", str(columns), "-y", str(rows))
        # The shell tells tmux when it shows a prompt; a test waits for that, not for a time.
        told = f"{' '.join(self._tmux)} wait-for -S {_DONE}"
        variables = {
            **environment,
            "PS1": "$ ",
            "PROMPT_COMMAND": told,
            "TERM": "screen",
            "HISTFILE": "",
            "LC_ALL": "C.UTF-8",
        }
        for name in ("TMUX", "COLUMNS", "LINES"):
            variables.pop(name, None)
        subprocess.run(
            [*self._tmux, "-u", "new-session", "-d", *size, "-c", str(directory), *shell],
            env=variables,
            check=True,
            timeout=WITHIN_S,
        )
        self._wait_for_prompt()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._run("kill-server")

    def type(self, text: str) -> None:
        """Type text as it is."""
        self._run("send-keys", "-l", text)

    def press(self, *keys: str) -> None:
        """Press keys by their names in tmux, such as `Enter` and `C-c`."""
        self._run("send-keys", *keys)

    def run(self, command: str) -> str:
        """Run one command on a cleared screen; return the screen when the prompt is back."""
        self.clear()
        self.type(command)
        self.press("Enter")
        self._wait_for_prompt()
        return self.screen()

    def clear(self) -> None:
        """Clear the screen and its history. The shell must show its prompt."""
        self.until(lambda screen: screen.endswith("$"))
        self.press("C-l")

        def is_cleared(screen: str) -> bool:
            # The shell may clear the screen into the history after this was called.
            self._run("clear-history")
            return screen == "$"

        self.until(is_cleared)

    def finished(self) -> str:
        """Wait until the running command has ended, and return the screen."""
        self._wait_for_prompt()
        return self.screen()

    def screen(self) -> str:
        """Return the text of the screen and of what has scrolled off, without blanks at the ends of lines."""
        shown = self._run("capture-pane", "-p", "-J", "-S", "-").stdout
        return "\n".join(line.rstrip() for line in shown.rstrip().splitlines())

    def shown(self, text: str) -> str:
        """Return the screen as soon as it contains `text`."""
        return self.until(lambda screen: text in screen)

    def until(self, is_reached: Callable[[str], bool]) -> str:
        """Return the screen as soon as `is_reached` accepts it."""
        deadline_s = time.monotonic() + WITHIN_S
        while not is_reached(screen := self.screen()):
            assert time.monotonic() < deadline_s, f"this is not shown; the screen is:\n{screen}"
            time.sleep(0.02)
        return screen

    def _wait_for_prompt(self) -> None:
        """Wait until the shell shows its prompt. It tells so just before."""
        self._run("wait-for", _DONE)
        self.until(lambda screen: screen.endswith("$"))

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self._tmux, *arguments],
            env={**os.environ, "LC_ALL": "C.UTF-8"},
            capture_output=True,
            text=True,
            check=True,
            timeout=WITHIN_S,
        )
