"""`python -m tailrace` is the program `tailrace`."""

from __future__ import annotations

from tailrace.app.cli import main

main()
