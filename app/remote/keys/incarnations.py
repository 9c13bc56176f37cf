"""The incarnations of streams: a stream gets one when a client first asks for it.

It owns the marks that keep them, and never changes an entry. An engine that refuses the mark (its memory,
its rights) leaves the stream without an incarnation.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from tailrace.app.remote.functions.library import Library
from tailrace.app.remote.functions.streams import mark
from tailrace.app.remote.link.port import EngineError, Link, LinkDown

T = TypeVar("T")

_TRIES: Final = 3
"""Walks over a stream that is deleted and created again meanwhile; the next walk is answered as it is."""


async def marked(link: Link, library: Library, key: bytes) -> str | None:
    """Return the incarnation of the stream, which gets one if it has none; None without a stream.
    O(groups)."""
    try:
        return await library.run(link, mark(key))
    except (EngineError, LinkDown):
        # A command on the stream itself tells what is wrong.
        return None


async def of_one(link: Link, library: Library, key: bytes, walk: Callable[[str | None], Awaitable[T]]) -> T:
    """Run `walk`, which takes several steps, on one incarnation of the stream, which is its argument."""
    incarnation = await marked(link, library, key)
    for _ in range(_TRIES):
        reply = await walk(incarnation)
        seen = await marked(link, library, key)
        if seen == incarnation:
            return reply
        incarnation = seen
    return await walk(incarnation)
