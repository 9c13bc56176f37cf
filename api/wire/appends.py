"""Decodes the bodies of appends: from raw JSON to the fragments that the engine stores.

This is the most frequent input of the server. msgspec decodes the outer object; the fields stay raw bytes, so
that a repeated name is noticed and nothing is parsed twice. Only if a body is refused, its pydantic model
reads it again to describe the mistakes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal, NamedTuple, Protocol

import msgspec
from pydantic import BaseModel, ValidationError

from tailrace.api.problems.table import RequestRefused
from tailrace.api.schemas.appends import Trimming, XaddBatchBody, XaddBody
from tailrace.api.schemas.base import I64_MAX
from tailrace.api.schemas.texts import mistakes
from tailrace.api.wire.bodies import (
    explained,
    mismatch,
    pointer_of,
    require_few_elements,
)
from tailrace.api.wire.members import keeps_members, require_unique
from tailrace.api.wire.parameters import requested_id_of, trim_of
from tailrace.core.commands import IdRequest, Trim
from tailrace.core.errors import ErrorCode
from tailrace.core.limits import (
    BATCH_ENTRIES_MAX,
    BODY_ELEMENTS_MAX,
    BULK_ELEMENTS_MAX,
    ENTRY_BYTES_MAX,
)
from tailrace.core.log.entry import BadEntry, fragment_from_fields, fragment_from_pairs

LINE_BYTES_MAX: Final = 2 * ENTRY_BYTES_MAX
"""The longest JSON text of one entry that is decoded, in bytes: with escapes, twice the largest entry."""

_ABSENT: Final = (b"", b"null")

UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""The errors that msgspec raises for bytes that it cannot decode, or that nest too deeply."""


Delay = Annotated[int, msgspec.Meta(ge=0, le=I64_MAX)]
"""A delay, or the time of a delivery, in milliseconds."""


class RawEntry(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """One entry to append, with its fields as raw JSON. Documented as `EntryToAppend`."""

    fields: msgspec.Raw = msgspec.Raw()
    pairs: msgspec.Raw = msgspec.Raw()
    encoding: Literal["base64"] | None = None
    id: str | None = None


class RawXadd(RawEntry, forbid_unknown_fields=True):
    """The body of `xadd`. Documented as `XaddBody`."""

    trim: dict[str, Any] | None = None
    nomkstream: bool = False
    if_last_id: str | None = None
    delay_ms: Delay | None = None
    deliver_at_ms: Delay | None = None


class RawBatch(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """The body of `xadd_batch`. Documented as `XaddBatchBody`."""

    entries: list[RawEntry]
    trim: dict[str, Any] | None = None
    if_last_id: str | None = None
    delay_ms: Delay | None = None
    deliver_at_ms: Delay | None = None


class BatchOptions(Protocol):
    """The options of a batch."""

    trim: dict[str, Any] | None
    if_last_id: str | None
    delay_ms: int | None
    deliver_at_ms: int | None


class NewEntries(NamedTuple):
    """Entries to append. `ids` is None if the engine chooses all ids."""

    fragments: list[bytes]
    ids: list[IdRequest] | None


_decode_xadd: Final = msgspec.json.Decoder(RawXadd).decode
_decode_batch: Final = msgspec.json.Decoder(RawBatch).decode


def decode_xadd(raw: bytes) -> tuple[RawXadd, NewEntries]:
    """Return the body of `xadd` and its one entry. Raises `RequestRefused`: 400, 413 or 422. O(bytes)."""
    if len(raw) > LINE_BYTES_MAX:
        raise entry_too_long("the body")
    require_few_elements(raw, BODY_ELEMENTS_MAX)
    try:
        body = _decode_xadd(raw)
        new = new_entries((body,))
    except (*UNREADABLE, BadEntry) as error:
        raise refusal_of(raw, XaddBody, error) from None
    if not keeps_members(raw, body):
        require_unique(raw, bytes(body.fields) or bytes(body.pairs))
    return body, new


def decode_batch(raw: bytes) -> tuple[RawBatch, NewEntries]:
    """Return the body of `xadd_batch` and its entries. Raises `RequestRefused`: 400, 413 or 422. O(bytes)."""
    require_few_elements(raw, BULK_ELEMENTS_MAX)
    try:
        body = _decode_batch(raw)
        require_count(len(body.entries))
        new = new_entries(body.entries)
    except (*UNREADABLE, BadEntry) as error:
        raise refusal_of(raw, XaddBatchBody, error) from None
    if not keeps_members(raw, body):
        require_unique(raw)
    return body, new


def trimming_of(raw: dict[str, Any] | None) -> Trim | None:
    """Return the trimming rule of a decoded append body. Raises `RequestRefused`: 400 or 422."""
    if raw is None:
        return None
    try:
        return trim_of(Trimming.model_validate(raw))
    except ValidationError as error:
        found = mistakes(error.errors(include_url=False), Trimming)
        raise mismatch([(pointer_of(("trim", *place)), text) for place, text in found]) from None


def fragment_of(entry: RawEntry) -> bytes:
    """Return the fragment of one entry. Raises `BadEntry`. O(bytes)."""
    fields, pairs = bytes(entry.fields), bytes(entry.pairs)
    if (fields in _ABSENT) == (pairs in _ABSENT):
        raise BadEntry("give exactly one of `fields` and `pairs`")
    if fields not in _ABSENT:
        return fragment_from_fields(fields, base64=entry.encoding is not None)
    return fragment_from_pairs(pairs, base64=entry.encoding is not None)


def new_entries(entries: Sequence[RawEntry]) -> NewEntries:
    """Return `entries` as the engine stores them. Raises `BadEntry`, or `RequestRefused` 400 for an id."""
    fragments = [fragment_of(entry) for entry in entries]
    return NewEntries(fragments, ids_or_none([requested_id_of(entry.id) for entry in entries]))


def ids_or_none(ids: list[IdRequest]) -> list[IdRequest] | None:
    """Return the ids for `NewEntries`: None if the engine chooses all of them."""
    return None if all(value is None for value in ids) else ids


def entry_too_long(what: str) -> RequestRefused:
    """Return the error for an entry whose JSON text is too long to decode; `what` names the text."""
    return RequestRefused(
        ErrorCode.ENTRY_TOO_LARGE,
        f"{what} is longer than {LINE_BYTES_MAX} bytes; an entry may take {ENTRY_BYTES_MAX} bytes at most",
    )


def require_count(count: int) -> None:
    """Raise `RequestRefused` if one request may not append `count` entries: 422 for none, 413 for too
    many."""
    if count == 0:
        raise mismatch([("", "at least one entry is required")])
    if count > BATCH_ENTRIES_MAX:
        raise RequestRefused(
            ErrorCode.LIMIT_EXCEEDED,
            f"the body has {count} entries; at most {BATCH_ENTRIES_MAX} are allowed in one request",
        )


# --- what was wrong --------------------------------------------------------------------------------


def refusal_of(raw: bytes, model: type[BaseModel], error: Exception) -> RequestRefused:
    """Return the error for a body that msgspec or the entry reader refused with `error`."""
    if isinstance(error, BadEntry) and error.too_large:
        return RequestRefused(ErrorCode.ENTRY_TOO_LARGE, str(error))
    return explained(raw, model, error)
