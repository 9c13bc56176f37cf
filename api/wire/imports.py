"""Reads import bodies. Large ones are unpacked in a thread and decoded in slices, so that the event loop can
serve other requests.

It owns how many large bodies are read at a time, and how long one may block the event loop.
`api.wire.compression` unpacks bodies, and `api.wire.entry_lines` decodes lines.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from typing import Final

from starlette.requests import Request

from tailrace.api.http.disconnect import while_connected
from tailrace.api.wire.appends import LINE_BYTES_MAX, NewEntries, entry_too_long, ids_or_none, require_count
from tailrace.api.wire.bodies import count_elements, too_many_elements
from tailrace.api.wire.compression import Unpacking, encoding_of
from tailrace.api.wire.entry_lines import LineShape, decode_lines, decode_some_lines, too_many_lines
from tailrace.api.wire.turns import off_the_loop
from tailrace.core.commands import IdRequest
from tailrace.core.limits import (
    BATCH_ENTRIES_MAX,
    BODY_LINES_MAX,
    BULK_ELEMENTS_MAX,
    KIB,
    LARGE_IMPORTS_MAX,
    MIB,
)

LARGE_BYTES: Final = MIB
"""A body up to this size is decoded at once, in about 10 ms."""

SLICE_BYTES: Final = 256 * KIB
"""How many bytes of a larger body are decoded before other requests are served."""

COUNTED_BYTES: Final = 8 * MIB
"""How many bytes of a body are searched for one byte value before other requests are served."""

INLINE_STEPS: Final = 128
INLINE_BYTES: Final = MIB
"""How much of a compressed body is unpacked on the event loop, in steps and in bytes. Larger bodies continue
in a thread."""


class Imports:
    """Reads the import bodies of one server.

    At most `LARGE_IMPORTS_MAX` large bodies are read at a time, which limits the threads and the unpacked
    bytes in memory.
    """

    def __init__(self) -> None:
        self._room = asyncio.Semaphore(LARGE_IMPORTS_MAX)

    async def read(self, request: Request, shape: LineShape) -> NewEntries:
        """Receive the request's body and return its entries.

        Raises `RequestRefused`: 400, 413, 415 or 422; and `ClientDisconnect` if the client disconnects while
        a large body is decoded, which ends the work.
        """
        raw = await request.body()
        encoding = encoding_of(request.headers.getlist("content-encoding"))
        if encoding is None:
            if len(raw) <= LARGE_BYTES:
                return decode_lines(raw, shape)
            return await while_connected(request.scope, request.receive, self._read_large(raw, shape))
        unpacking = Unpacking(raw, encoding)
        unpacking.run(steps=INLINE_STEPS, bytes_max=INLINE_BYTES)
        if unpacking.is_done and len(unpacking.unpacked) <= LARGE_BYTES:
            return decode_lines(bytes(unpacking.unpacked), shape)
        return await while_connected(request.scope, request.receive, self._unpack_large(unpacking, shape))

    async def _read_large(self, raw: bytes, shape: LineShape) -> NewEntries:
        async with self._room:
            return await decode_in_slices(raw, shape)

    async def _unpack_large(self, unpacking: Unpacking, shape: LineShape) -> NewEntries:
        async with self._room:
            await _finish(unpacking)
            return await decode_in_slices(unpacking.unpacked, shape)


async def _finish(unpacking: Unpacking) -> None:
    """Unpack the rest in a thread. If cancelled, wait for the end of the thread before returning."""
    work = asyncio.ensure_future(asyncio.to_thread(unpacking.run))
    try:
        await asyncio.shield(work)
    except asyncio.CancelledError:
        unpacking.is_abandoned = True
        with suppress(Exception):
            await work
        raise


async def _count(raw: bytes | bytearray, byte: bytes) -> int:
    """Count `byte` in the body; other requests are served after every `COUNTED_BYTES`."""
    count = 0
    for begin in range(0, len(raw), COUNTED_BYTES):
        count += raw.count(byte, begin, begin + COUNTED_BYTES)
        await asyncio.sleep(0)
    return count


async def decode_in_slices(raw: bytes | bytearray, shape: LineShape) -> NewEntries:
    """Decode a body as `decode_lines` does, and let other requests run after each slice. O(bytes)."""
    if await _count(raw, b"\n") > BODY_LINES_MAX:
        raise too_many_lines()
    # Counting takes longer than decoding, so only bodies that can have too many are counted.
    uncounted = BULK_ELEMENTS_MAX if await _count(raw, b",") >= BULK_ELEMENTS_MAX else None
    fragments: list[bytes] = []
    ids: list[IdRequest] = []
    begin, line = 0, 1
    while begin < len(raw):
        end = raw.find(b"\n", begin + SLICE_BYTES) + 1 or len(raw)
        if end - begin > SLICE_BYTES + LINE_BYTES_MAX:
            number = line + raw.count(b"\n", begin, begin + SLICE_BYTES)
            raise entry_too_long(f"line {number}")
        part = bytes(memoryview(raw)[begin:end])
        if uncounted is not None:
            uncounted -= count_elements(part, uncounted)
            if not uncounted:
                raise too_many_elements(BULK_ELEMENTS_MAX)
        new = await off_the_loop(len(part) - SLICE_BYTES, partial(decode_some_lines, part, shape, line))
        fragments += new.fragments
        ids += new.ids or [None] * len(new.fragments)
        if len(fragments) > BATCH_ENTRIES_MAX:
            break
        begin, line = end, line + part.count(b"\n")
        await asyncio.sleep(0)
    require_count(len(fragments))
    return NewEntries(fragments, ids_or_none(ids))
