"""`tailrace version`: prints the version."""

from __future__ import annotations

import typer

from tailrace.app import __version__


def version() -> None:
    """Print the version."""
    typer.echo(f"tailrace {__version__}")
