"""Opens a data directory for a program: composes the store of the server with its storage.

It owns the start and the end of a store. It never runs a command.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal, TypeAlias

from tailrace.app.lifespan import keeping, ticking
from tailrace.app.store.data_refusals import STORAGE_ERRORS, refusal
from tailrace.app.store.service import EngineStore
from tailrace.app.store.storage import Storage, new_identity
from tailrace.core.engine import Engine
from tailrace.core.keyspace import Keyspace
from tailrace.core.storage.schema import InUse
from tailrace.library.async_store import AsyncStore

Directory: TypeAlias = str | os.PathLike[str]

Durability: TypeAlias = Literal["always", "interval"]
"""`always`: a call returns when its result is on disk. `interval`: data reaches the disk within a second."""


class CannotOpen(Exception):
    """The directory cannot be used. The text says why, and what to do."""


@asynccontextmanager
async def open_async(
    directory: Directory | None = None, *, durability: Durability = "always"
) -> AsyncIterator[AsyncStore]:
    """Open `directory` for the duration of the context; it is created if it is missing.

    None: the data is in memory only. One process at a time can use a directory. Raises `CannotOpen`, and
    `ValueError` for another durability.
    """
    if durability not in ("always", "interval"):
        raise ValueError(
            f"durability={durability!r} is unknown; choose 'always' or 'interval', or open no directory to "
            "keep the data in memory"
        )
    storage = None if directory is None else await asyncio.to_thread(_opened, Path(directory))
    keyspace = Keyspace(identity=new_identity()) if storage is None else storage.keyspace
    store = EngineStore(Engine(keyspace))
    async with keeping(store, storage, waits=durability == "always"), ticking(store.tick):
        try:
            yield AsyncStore(store)
        finally:
            store.drain()


def _opened(directory: Path) -> Storage:
    try:
        return Storage(directory)
    except InUse as error:
        raise CannotOpen(
            f"the directory {directory} is in use: another process, or another store of this process, has it "
            "open; close that one, or choose another directory"
        ) from error
    except STORAGE_ERRORS as error:
        raise CannotOpen(refusal(directory, error)) from error
