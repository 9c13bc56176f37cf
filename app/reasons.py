"""Why the system refused something, in words that stand at the end of a sentence. It owns that wording."""

from __future__ import annotations

import os


def reason(error: OSError) -> str:
    """What the system says went wrong, to stand at the end of a sentence."""
    # Python's own text repeats the address in its way; the system's does not. A failed look-up has none.
    return str(error) if error.errno is None or error.errno < 0 else os.strerror(error.errno).lower()
