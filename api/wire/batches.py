"""Reads batch bodies. Large ones are decoded entry by entry, so that the event loop can serve other requests.

`api.wire.appends` decodes small batches at once, and decodes single entries.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, Final

import msgspec

from tailrace.api.problems.table import HttpCode, RequestRefused
from tailrace.api.schemas.appends import EntryToAppend, XaddBatchBody
from tailrace.api.wire.appends import (
    UNREADABLE,
    BatchOptions,
    Delay,
    NewEntries,
    RawEntry,
    decode_batch,
    fragment_of,
    ids_or_none,
    refusal_of,
    require_count,
)
from tailrace.api.wire.bodies import mismatch, require_few_elements_in_slices
from tailrace.api.wire.members import REPETITION_BYTES_MIN, repetition, require_unique
from tailrace.api.wire.parameters import requested_id_of
from tailrace.api.wire.turns import AT_ONCE_BYTES_MAX, Slices, off_the_loop
from tailrace.core.limits import BULK_ELEMENTS_MAX
from tailrace.core.log.entry import BadEntry


class RawLargeBatch(msgspec.Struct, forbid_unknown_fields=True):
    """The body of `xadd_batch` with its entries as raw JSON. Documented as `XaddBatchBody`."""

    entries: list[msgspec.Raw]
    trim: dict[str, Any] | None = None
    if_last_id: str | None = None
    delay_ms: Delay | None = None
    deliver_at_ms: Delay | None = None


_decode_batch: Final = msgspec.json.Decoder(RawLargeBatch).decode
_decode_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_entry: Final = msgspec.json.Decoder(RawEntry).decode


async def read_batch(raw: bytes) -> tuple[BatchOptions, NewEntries]:
    """Return the body of `xadd_batch` and its entries. Raises `RequestRefused`: 400, 413 or 422. O(bytes)."""
    return decode_batch(raw) if len(raw) <= AT_ONCE_BYTES_MAX else await decode_batch_in_slices(raw)


async def decode_batch_in_slices(raw: bytes) -> tuple[BatchOptions, NewEntries]:
    """Decode like `decode_batch`, and let other requests run after each slice.

    The error names the first wrong entry.
    """
    slices = Slices()
    await require_few_elements_in_slices(raw, BULK_ELEMENTS_MAX, slices)
    await asyncio.sleep(0)
    try:
        body = _decode_batch(raw)
    except UNREADABLE as error:
        raise refusal_of(raw, XaddBatchBody, error) from None
    require_count(len(body.entries))
    fragments: list[bytes] = []
    given: list[str | None] = []
    between_bytes = len(raw)
    for number, each in enumerate(body.entries):
        try:
            size_bytes = memoryview(each).nbytes
            entry_id, fragment = await off_the_loop(size_bytes, partial(_id_and_fragment, each))
        except RequestRefused as refusal:
            raise _in_entry(refusal, number) from None
        except (*UNREADABLE, BadEntry) as error:
            raise _refused_entry(raw, number, bytes(each), error) from None
        fragments.append(fragment)
        given.append(entry_id)
        between_bytes -= size_bytes + len(b",")
        await slices.count(size_bytes)
    if between_bytes >= REPETITION_BYTES_MIN:
        await asyncio.sleep(0)
        require_unique(raw, bytes(_decode_members(raw)["entries"]))
    ids = []
    for text in given:
        ids.append(requested_id_of(text))
        await slices.count(0)
    return body, NewEntries(fragments, ids_or_none(ids))


def _id_and_fragment(raw: msgspec.Raw) -> tuple[str | None, bytes]:
    entry = _decode_entry(raw)
    fragment = fragment_of(entry)
    require_unique(bytes(raw), bytes(entry.fields) or bytes(entry.pairs))
    return entry.id, fragment


def _in_entry(refusal: RequestRefused, number: int) -> RequestRefused:
    """Return the error for a repeated member of an entry, with its place in the body."""
    return repetition(f"/entries/{number}{refusal.errors[0]['pointer']}")


def _refused_entry(raw: bytes, number: int, entry: bytes, error: Exception) -> RequestRefused:
    refusal = refusal_of(entry, EntryToAppend, error)
    if refusal.code is HttpCode.MALFORMED_BODY:
        # A line and column within the entry would mislead: the client needs the place in the body.
        return refusal_of(raw, XaddBatchBody, error)
    if refusal.code is HttpCode.BODY_MISMATCH:
        places = [(str(item["pointer"]), str(item["detail"])) for item in refusal.errors]
        return mismatch([(f"/entries/{number}{pointer}", detail) for pointer, detail in places])
    return refusal
