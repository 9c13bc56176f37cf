"""Appends: from the raw JSON of a body to the command, at once or with a delay, and from the reply to its
JSON.

This is the most frequent input of the server. msgspec decodes the outer object; the fields stay raw bytes,
so that a repeated name is noticed and nothing is parsed twice. Only if a body is refused, its pydantic
model reads it again to describe the mistakes. The trace context of an append is added to its entries if
the producer asks for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, Literal, NamedTuple, Protocol, TypeVar

import msgspec
from msgspec.structs import replace
from pydantic import BaseModel, ValidationError
from starlette.datastructures import Headers

from tailrace.api.problems.table import HttpCode, RequestRefused
from tailrace.api.schemas.appends import Trimming, XaddBatchBody, XaddBody
from tailrace.api.schemas.base import I64_MAX
from tailrace.api.schemas.texts import mistakes, shown
from tailrace.api.wire.bodies import (
    explained,
    mismatch,
    pointer_of,
    require_few_elements,
)
from tailrace.api.wire.members import keeps_members, require_unique
from tailrace.api.wire.parameters import requested_id_of, trim_of
from tailrace.api.wire.replies import Json
from tailrace.core.commands import Append, Idempotency, IdRequest, ScheduleEntries, Trim
from tailrace.core.errors import ErrorCode
from tailrace.core.limits import (
    BATCH_ENTRIES_MAX,
    BODY_ELEMENTS_MAX,
    BULK_ELEMENTS_MAX,
    ENTRY_BYTES_MAX,
)
from tailrace.core.log.entry import BadEntry, fragment_from_fields, fragment_from_pairs, with_field
from tailrace.core.log.entry_json import Shape, wire_lines
from tailrace.core.replies import Entries, ScheduledPage, ScheduleReply
from tailrace.core.schedule import ScheduledId, deliver_at_ms, format_scheduled_id, parse_scheduled_id

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


FIELD: Final = b"traceparent"
_CONTEXT: Final = "traceparent"
_ASKED: Final = "Tailrace-Trace"
_WHERE: Final = "entry"
_WELL_FORMED: Final = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}", re.ASCII)


AppendT = TypeVar("AppendT", bound=Append | ScheduleEntries)


def traced(headers: Headers, command: AppendT) -> AppendT:
    """Return the append with the request's trace context in each entry, if the request asks for it.

    Raises `RequestRefused`: 400, or 413 if an entry becomes too large. O(bytes) if the request asks for it.
    """
    asked = headers.get(_ASKED)
    if asked is None:
        return command
    if asked != _WHERE:
        raise _untraceable(asked)
    context = headers.get(_CONTEXT, "")
    if _WELL_FORMED.fullmatch(context) is None:
        return command
    value = context.encode()
    try:
        return replace(command, fragments=[with_field(each, FIELD, value) for each in command.fragments])
    except BadEntry as error:
        raise RequestRefused(ErrorCode.ENTRY_TOO_LARGE, f"with its {_CONTEXT}: {error}") from None


def _untraceable(asked: str) -> RequestRefused:
    detail = f"{_ASKED} must be {_WHERE!r}, not {asked[:40]!r}"
    errors = [{"parameter": _ASKED, "in": "header", "detail": detail}]
    return RequestRefused(HttpCode.INVALID_PARAMETER, detail, errors=errors)


TRACE_HEADERS: Final[tuple[dict[str, Any], ...]] = (
    {
        "name": _ASKED,
        "in": "header",
        "required": False,
        "description": "`entry`: add the request's `traceparent` to each entry as a field of that name.",
        "schema": {"type": "string", "enum": [_WHERE], "examples": [_WHERE]},
    },
    {
        "name": _CONTEXT,
        "in": "header",
        "required": False,
        "description": "The trace context of the request (W3C Trace Context, version 00).",
        "schema": {
            "type": "string",
            "examples": ["00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"],
        },
    },
)
"""The two headers, as the OpenAPI document describes them."""


_NO_ID: Final = b'{"id":"0-0",'


class DelayOptions(Protocol):
    """The members of an append that a delay concerns."""

    @property
    def trim(self) -> object | None:
        """How to trim the stream."""

    @property
    def if_last_id(self) -> str | None:
        """The condition on the last id."""

    @property
    def delay_ms(self) -> int | None:
        """After which time to append."""

    @property
    def deliver_at_ms(self) -> int | None:
        """When to append."""


def no_idempotency(_chosen: bool) -> None:  # noqa: FBT001 - as `api.wire.idempotency.idempotency_of`
    """Return None: the request has no idempotency key."""


def is_delayed(options: DelayOptions) -> bool:
    """Return whether an append has a delay. O(1)."""
    return options.delay_ms is not None or options.deliver_at_ms is not None


def schedule_command(
    key: bytes,
    options: DelayOptions,
    new: NewEntries,
    idempotency: Callable[[bool], Idempotency | None],
    *,
    create: bool = True,
) -> ScheduleEntries:
    """Return the command that stores delayed entries. Raises `RequestRefused` 400 for a member that does not
    fit a delay."""
    given = "delay_ms" if options.deliver_at_ms is None else "deliver_at_ms"
    if options.delay_ms is not None and options.deliver_at_ms is not None:
        raise _refusal("`delay_ms` and `deliver_at_ms` exclude each other; send one")
    for name, is_set, reason in (
        ("id", new.ids is not None, "the server chooses the id when the entry is appended"),
        (
            "if_last_id",
            options.if_last_id is not None,
            "the last id is not known before the entry is appended",
        ),
        ("trim", options.trim is not None, "nothing is appended yet; set the retention of the stream"),
    ):
        if is_set:
            raise _refusal(f"`{name}` cannot be used with `{given}`: {reason}")
    return ScheduleEntries(
        key,
        new.fragments,
        options.deliver_at_ms,
        options.delay_ms,
        create,
        idempotency(True),  # noqa: FBT003 - the server chooses all ids
    )


def _refusal(detail: str) -> RequestRefused:
    return RequestRefused(ErrorCode.INVALID_ARGUMENT, detail)


def scheduled_json(reply: ScheduleReply) -> Json:
    """Return the result of one delayed append."""
    value = reply.scheduled_ids[0]
    return {"scheduled_id": format_scheduled_id(value), "deliver_at_ms": deliver_at_ms(value)}


def scheduled_batch_json(reply: ScheduleReply) -> Json:
    """Return the result of a delayed batch."""
    ids = reply.scheduled_ids
    return {
        "count": len(ids),
        "deliver_at_ms": deliver_at_ms(ids[0]),
        "scheduled_ids": [format_scheduled_id(value) for value in ids],
    }


def scheduled_page_json(page: ScheduledPage, shape: Shape) -> Json:
    """Return a page of scheduled entries. O(bytes)."""
    ids = page.scheduled_ids
    following = format_scheduled_id(ids[-1]) if page.has_more and ids else None
    return {"scheduled": _entries_json(ids, page.fragments, shape), "next": following}


def _entries_json(ids: Sequence[ScheduledId], fragments: Sequence[bytes], shape: Shape) -> list[msgspec.Raw]:
    lines = wire_lines(Entries([0] * len(ids), fragments), shape)
    return [
        msgspec.Raw(
            b'{"scheduled_id":"%b","deliver_at_ms":%d,%b'
            % (format_scheduled_id(value).encode(), deliver_at_ms(value), line.removeprefix(_NO_ID))
        )
        for value, line in zip(ids, lines, strict=True)
    ]


def scheduled_id_of(text: str) -> ScheduledId:
    """Return the scheduled id that `text` contains. Raises `RequestRefused` 400, `INVALID_ID`."""
    value = parse_scheduled_id(text)
    if value is None:
        detail = f"{shown(text)} is not a scheduled id; send one that the server returned, such as {_EXAMPLE}"
        raise RequestRefused(ErrorCode.INVALID_ID, detail, members={"given": text})
    return value


_EXAMPLE: Final = "s1692632207973-1692632147973000"
