"""`entries:split` and `entries:seek`: plans of parallel reads, by walks of the function library."""

from __future__ import annotations

from functools import partial

from tailrace.app.remote.functions.library import Library
from tailrace.app.remote.functions.plans import seek, split
from tailrace.app.remote.keys.incarnations import of_one
from tailrace.app.remote.link.port import Link
from tailrace.app.remote.words.engine import Engine
from tailrace.core.commands import SeekRange, SplitRange
from tailrace.core.errors import engine_lacks
from tailrace.core.replies import SeekReply, SplitReply


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
