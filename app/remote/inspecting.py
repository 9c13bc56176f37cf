"""Asks all masters for what an operator must know: see `app.remote.inspection`.

It runs at the start and every ten seconds, so it also finds what changes while the gateway runs, and the
settings of a replica that was promoted. It never changes a setting.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final

from msgspec.structs import replace

from tailrace.app.background import in_background
from tailrace.app.remote.functions.detection import places
from tailrace.app.remote.inspection import SETTINGS, Inspected
from tailrace.app.remote.link.port import EngineError, Link, LinkDown
from tailrace.app.remote.rights import ALWAYS, FOR_THE_LIBRARY, OF_THE_LIBRARY, missing_rights
from tailrace.app.remote.words.engine import Engine
from tailrace.app.remote.words.plan import text, values

EVERY_S: Final = 10.0
"""Time between two inspections."""

_IN_INFO: Final = {"maxmemory": b"maxmemory", "maxmemory-policy": b"maxmemory_policy"}
"""Managed services often refuse CONFIG, and answer INFO."""


@asynccontextmanager
async def inspecting(link: Link, engine: Engine) -> AsyncIterator[None]:
    """Inspect again and again for the duration of the context, and log what was found."""
    async with in_background(_inspections(link, engine)):
        yield


async def _inspections(link: Link, engine: Engine) -> None:
    while True:
        engine.inspection.note()
        await asyncio.sleep(EVERY_S)
        await inspect(link, engine)


async def inspect(link: Link, engine: Engine) -> None:
    """Ask all masters. What is known of a master that does not answer stays."""
    answers = await asyncio.gather(*(_inspected(link, engine, *place) for place in places(link)))
    engine.inspection.found = {address: found for address, found in answers if found is not None}


async def _inspected(link: Link, engine: Engine, address: str, key: bytes) -> tuple[str, Inspected | None]:
    before = engine.inspection.found.get(address)
    has_library = engine.library is not None
    try:
        settings = await _settings(link, address)
        # Most questions about rights count as errors in the statistics of the engine, so they end.
        if before is not None and not before.needed:
            return address, replace(before, settings=settings)
        commands = (*ALWAYS, *OF_THE_LIBRARY) if has_library else ALWAYS
        needed = await missing_rights(link, address, key, commands)
        useful: Sequence[str] = () if before is None else before.useful
        if before is None and not has_library:
            useful = await missing_rights(link, address, key, FOR_THE_LIBRARY)
    except LinkDown:
        return address, before
    return address, Inspected(settings, needed, useful)


async def _settings(link: Link, address: str) -> dict[str, str]:
    """Return the settings that the engine tells, as text. Raises `LinkDown`."""
    found: dict[str, str] = {}
    for name in SETTINGS:
        with suppress(EngineError):
            words = [b"CONFIG", b"GET", name.encode()]
            answer = values(await link.call_node(address, words, is_write=False))
            if answer:
                found[name] = text(answer[1]).decode("utf-8", "backslashreplace")
    if not found:
        with suppress(EngineError):
            info = text(await link.call_node(address, [b"INFO", b"memory"], is_write=False))
            shown = dict(line.partition(b":")[::2] for line in info.splitlines())
            found = {name: shown[field].decode() for name, field in _IN_INFO.items() if field in shown}
    return found
