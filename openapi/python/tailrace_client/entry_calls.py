"""The calls that read entries and their places: pages, single entries, several streams, plans of a range.

This module sends nothing. `stream_calls` has the calls that change a stream, and `lines` reads exports.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from tailrace_client import replies
from tailrace_client.call import Answer, Call, given, record
from tailrace_client.entries import Entry, entry_of
from tailrace_client.fields import Fields, fields_of
from tailrace_client.generated import models
from tailrace_client.generated.api import entries as entries_api
from tailrace_client.generated.api import reads as reads_api
from tailrace_client.generated.types import UNSET

PAGE_ENTRIES: Final = 1_000
"""The entries of one request of a read that runs backwards."""


class Page(NamedTuple):
    """The entries of one read. `next`: the position after them, to pass as `after` of the next read. If there
    were no entries, it is the position of the read, with `$` resolved to an id."""

    entries: list[Entry]
    next: str


def export(
    key: str,
    start: str,
    end: str,
    shape: Literal["entry", "pairs", "fields"],
    fields: Sequence[str] | None,
    condition: str | None = None,
) -> Mapping[str, Any]:
    """Return the request of entries:export, whose response is streamed."""
    chosen = UNSET if fields is None else list(fields)
    return entries_api.export_entries._get_kwargs(
        key, start=start, end=end, shape=shape, field=chosen, filter_=given(condition)
    )


def backwards(
    key: str, start: str, end: str, left: float, condition: str | None = None
) -> Call[tuple[list[Entry], str | None]]:
    """Return the call of XREVRANGE: at most a page of entries from `end` down to `start`, and at most `left`.

    Its result has the entries, and the `end` of the next page; None if no entries are left.
    """
    count = int(min(left, PAGE_ENTRIES))
    request = entries_api.xrange._get_kwargs(
        key,
        start=start,
        end=end,
        order="desc",
        count=count,
        shape=UNSET,
        strict=UNSET,
        filter_=given(condition),
    )

    def page(answer: Answer) -> tuple[list[Entry], str | None]:
        entries, following = _page(answer.json())
        return entries, following and f"({following}"

    return Call(request, page, is_idempotent=True)


def after(
    key: str,
    position: str,
    *,
    count: int | None,
    wait_ms: int | None,
    strict: bool,
    condition: str | None = None,
) -> Call[Page]:
    """Return the call of XREAD on one stream: the entries after a position."""
    request = entries_api.xrange._get_kwargs(
        key,
        after=position,
        count=given(count),
        wait_ms=given(wait_ms),
        strict=strict or UNSET,
        filter_=given(condition),
        start=UNSET,
        end=UNSET,
        order=UNSET,
        shape=UNSET,
    )
    return Call(request, lambda answer: _page(answer.json()), is_idempotent=True, waits_ms=wait_ms or 0)


def entry(key: str, entry_id: str) -> Call[Fields]:
    """Return the call that reads the entry with an id."""
    request = entries_api.get_entry._get_kwargs(key, entry_id, shape=UNSET)
    return Call(request, lambda answer: fields_of(answer.json()), is_idempotent=True)


def read(
    positions: Mapping[str, str],
    *,
    count: int | None,
    max_count: int | None,
    max_bytes: int | None,
    wait_ms: int | None,
    min_count: int | None,
    linger_ms: int | None,
    strict: bool,
) -> Call[dict[str, Page]]:
    """Return the call of XREAD on several streams."""
    body = models.ReadBody(
        streams=[models.ReadPosition(key=key, after=position) for key, position in positions.items()],
        count=given(count),
        max_count=given(max_count),
        max_bytes=given(max_bytes),
        wait_ms=given(wait_ms),
        min_count=given(min_count),
        linger_ms=given(linger_ms),
        strict=strict or UNSET,
    )

    def pages(answer: Answer) -> dict[str, Page]:
        return dict(zip(positions, map(_page, answer.json()["streams"]), strict=True))

    request = reads_api.xread._get_kwargs(body=body, shape=UNSET)
    return Call(request, pages, is_idempotent=True, waits_ms=wait_ms or 0)


def split(key: str, parts: int, start: str, end: str) -> Call[replies.SplitPlan]:
    """Boundaries of parts of about equal counts."""
    request = entries_api.split_entries._get_kwargs(key, parts=parts, start=start, end=end)
    return Call(request, record(replies.SplitPlan), is_idempotent=True)


def seek(key: str, count: int, start: str) -> Call[replies.SeekPosition]:
    """Return the call that finds the id at the end of a page."""
    request = entries_api.seek_entries._get_kwargs(key, count=count, start=start)
    return Call(request, record(replies.SeekPosition), is_idempotent=True)


def _page(value: Mapping[str, Any]) -> Page:
    return Page([entry_of(each) for each in value["entries"]], value["next"])
