"""`python -m app` is `tailrace`."""

from __future__ import annotations

from app.cli import main

main()
