"""Hand-written sequences of the commands and options that came after Redis 7.0, each under its subject.

Written as in `sequences`.
"""

from __future__ import annotations

from typing import Final

LATER_SEQUENCES: Final[dict[str, str]] = {}
