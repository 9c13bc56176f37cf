"""Converts an error of the operating system into words for the end of a sentence. It owns that wording."""

from __future__ import annotations

import os


def reason(error: OSError) -> str:
    """Return the text of the error, for the end of a sentence."""
    # Python's own text repeats the address; the system's text does not. A failed look-up has no system text.
    return str(error) if error.errno is None or error.errno < 0 else os.strerror(error.errno).lower()
