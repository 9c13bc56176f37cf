"""Appends with a delay: from a decoded body to the command, and from a reply to its JSON.

It owns which members of an append a delay excludes. The engine decides when the entries are appended.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Protocol

import msgspec

from tailrace.api.problems.table import RequestRefused
from tailrace.api.schemas.texts import shown
from tailrace.api.wire.appends import NewEntries
from tailrace.api.wire.replies import Json
from tailrace.core.commands import Idempotency, ScheduleEntries
from tailrace.core.errors import ErrorCode
from tailrace.core.log.entry_json import Shape, wire_lines
from tailrace.core.replies import Entries, ScheduledPage, ScheduleReply
from tailrace.core.schedule import ScheduledId, deliver_at_ms, format_scheduled_id, parse_scheduled_id

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
