"""The identity of a data directory: a text that no other directory has.

Serials number the streams of one keyspace, and repeat in another one. So a serial identifies a stream only
together with the identity of its keyspace. A directory keeps its identity. A copy gets another one: it lacks
entries that the original acknowledges later. This module stores the text. It never creates one: the caller
does.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from tailrace.core.storage.schema import get_meta, put_meta

_NAME: Final = "identity"


def kept_identity(connection: sqlite3.Connection, fresh: str) -> str:
    """Return the identity of the directory. Store `fresh` if it has none: it is new, or of an old release.

    Raises `Damage`.
    """
    stored = get_meta(connection, _NAME)
    if stored is not None:
        return stored.decode()
    put_identity(connection, fresh)
    return fresh


def put_identity(connection: sqlite3.Connection, identity: str) -> None:
    """Store the identity in place of another one."""
    put_meta(connection, _NAME, identity.encode())
