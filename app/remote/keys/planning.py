"""Positions in streams: incarnations, and the plans of `entries:split` and `entries:seek`.

A stream gets an incarnation when a client first asks for it: a mark that never changes an entry. An engine
that refuses the mark (its memory, its rights) leaves the stream without an incarnation. The plans are walks
of the function library.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, TypeVar

from tailrace.app.remote.functions.library import Library
from tailrace.app.remote.functions.plans import seek, split
from tailrace.app.remote.functions.streams import mark
from tailrace.app.remote.link.port import EngineError, Link, LinkDown
from tailrace.app.remote.words.engine import Engine
from tailrace.core.commands import SeekRange, SplitRange
from tailrace.core.errors import engine_lacks
from tailrace.core.replies import SeekReply, SplitReply

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


async def split_range(link: Link, engine: Engine, command: SplitRange) -> SplitReply:
    """Return parts of about equal length."""
    library = _library(engine)
    walk = partial(split, link, library, command)
    return await of_one(link, library, command.key, walk)


async def seek_range(link: Link, engine: Engine, command: SeekRange) -> SeekReply:
    """Return the end of a page of `count` entries."""
    library = _library(engine)
    walk = partial(seek, link, library, command)
    return await of_one(link, library, command.key, walk)


def _library(engine: Engine) -> Library:
    feature = engine.capabilities.functions
    if engine.library is None:
        raise engine_lacks(feature.name, feature.reason.removeprefix("needs "))
    return engine.library
