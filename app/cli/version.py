"""`tailrace version`: prints the version."""

from __future__ import annotations

from tailrace.app import __version__
from tailrace.app.cli.output import say


def version() -> None:
    """Print the version."""
    say(f"tailrace {__version__}")
