"""The full screen of a live command: updated at intervals, until you press q.

It owns the options of such a command, and the terminal while it runs. It knows nothing of what the screen
shows.
"""

from __future__ import annotations

import select
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

import typer

if TYPE_CHECKING:
    from rich.console import RenderableType

INTERVAL_S: Final = 2.0

Interval: TypeAlias = Annotated[
    float, typer.Option("-i", "--interval", min=0.1, metavar="SECONDS", help="The time between updates.")
]
Once: TypeAlias = Annotated[bool, typer.Option("--once", help="Print one sample and exit.")]


def has_screen() -> bool:
    """Return whether a person can see the output and press keys."""
    return sys.stdout.isatty() and sys.stdin.isatty()


def follow_on_screen(shown: Callable[[], RenderableType], interval_s: float) -> None:
    """Show the result of `shown`, again after each interval, until the user presses q."""
    # Importing rich takes longer than a request, and `--once` in a pipe does not need it.
    from rich.live import Live  # noqa: PLC0415

    with Live(screen=True, auto_refresh=False) as live, _keys() as pressed:
        while True:
            live.update(shown(), refresh=True)
            if "q" in pressed(interval_s):
                return


@contextmanager
def _keys() -> Iterator[Any]:
    """Yield a function that waits some seconds and returns the keys that were pressed meanwhile."""
    saved = termios.tcgetattr(sys.stdin)
    tty.setcbreak(sys.stdin)

    def pressed(within_s: float) -> str:
        if not select.select([sys.stdin], [], [], within_s)[0]:
            return ""
        return sys.stdin.read(1)

    try:
        yield pressed
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, saved)
