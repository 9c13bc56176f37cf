"""New identities for keyspaces: in memory, in a data directory, or in a copy of one."""

from __future__ import annotations

import secrets
from typing import Final

IDENTITY_BYTES: Final = 8


def new_identity() -> str:
    """Return 16 random hexadecimal digits."""
    return secrets.token_hex(IDENTITY_BYTES)
