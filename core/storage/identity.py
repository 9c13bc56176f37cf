"""The identity of a data directory: random bytes that no other directory has.

Serials number the streams of one keyspace, and repeat in another one. So a serial identifies a stream only
together with the identity of its keyspace. A directory keeps its identity. A copy gets another one: it lacks
entries that the original acknowledges later.
"""

from __future__ import annotations

import secrets
import sqlite3
from typing import Final

from tailrace.core.storage.schema import get_meta, put_meta

IDENTITY_BYTES: Final = 8

_NAME: Final = "identity"


def new_identity() -> str:
    """Return a new identity: 16 hexadecimal digits."""
    return secrets.token_hex(IDENTITY_BYTES)


def identity_of(connection: sqlite3.Connection) -> str:
    """Return the identity of the directory. A new directory gets one now, as does one of an earlier release.

    Raises `Damage`.
    """
    stored = get_meta(connection, _NAME)
    return renew_identity(connection) if stored is None else stored.decode()


def renew_identity(connection: sqlite3.Connection) -> str:
    """Store a new identity and return it."""
    identity = new_identity()
    put_meta(connection, _NAME, identity.encode())
    return identity
