"""The engine in a program without HTTP: streams and groups in a directory of the program, or in its memory.

`tailrace.open(directory)` returns a `Store` for threads, and `tailrace.open_async(directory)` an `AsyncStore`
for asyncio. Both are the store of the server: the same commands, group commit and files. The package never
decides what a command does.
"""

from __future__ import annotations

from tailrace.api.ports import StoreUnavailable
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.library.async_store import AsyncStore
from tailrace.library.entries import Entry, FieldsToAppend, Name
from tailrace.library.opening import CannotOpen, Durability, open_async
from tailrace.library.store import Store, open  # noqa: A004 - `tailrace.open`, as `gzip.open`

__all__ = [
    "AsyncStore",
    "CannotOpen",
    "Durability",
    "Entry",
    "ErrorCode",
    "FieldsToAppend",
    "Name",
    "Store",
    "StoreUnavailable",
    "StreamError",
    "open",
    "open_async",
]
