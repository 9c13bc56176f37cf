"""The calls of scheduled entries: appends with a delay, their list, and their cancellation. This module sends
nothing."""

from __future__ import annotations

from typing import Any, NamedTuple

from tailrace_client.call import Answer, Call, given, member, nothing
from tailrace_client.fields import Fields, FieldsToAppend, fields_of, wire_entry
from tailrace_client.generated import models
from tailrace_client.generated.api import entries as entries_api
from tailrace_client.generated.types import UNSET
from tailrace_client.stream_calls import Producer


class ScheduledEntry(NamedTuple):
    """An entry that the server appends later. `id`: its scheduled id, not the id of an entry."""

    id: str
    deliver_at_ms: int
    fields: Fields


class ScheduledPage(NamedTuple):
    """A page of scheduled entries. `next`: where the next page begins; None on the last one."""

    entries: list[ScheduledEntry]
    next: str | None


def schedule(
    key: str,
    fields: FieldsToAppend,
    *,
    delay_ms: int | None,
    deliver_at_ms: int | None,
    create: bool,
    producer: Producer | None,
) -> Call[str]:
    """Return the call that appends an entry later, and returns its scheduled id."""
    if (delay_ms is None) == (deliver_at_ms is None):
        raise ValueError("pass either delay_ms or deliver_at_ms")
    body = models.XaddBody(
        nomkstream=UNSET if create else True, delay_ms=given(delay_ms), deliver_at_ms=given(deliver_at_ms)
    )
    arguments = {} if producer is None else producer.arguments()
    request = entries_api.xadd._get_kwargs(key, body=body, **arguments)
    request["json"] = {**wire_entry(fields), **request["json"]}
    return Call(request, member("scheduled_id"), is_idempotent=producer is not None)


def scheduled(key: str, after: str | None, limit: int) -> Call[ScheduledPage]:
    """Return the call that lists scheduled entries."""
    request = entries_api.list_scheduled._get_kwargs(key, after=given(after), limit=limit, shape=UNSET)
    return Call(request, _page, is_idempotent=True)


def cancel(key: str, scheduled_id: str) -> Call[None]:
    """Return the call that cancels a scheduled entry. The call is not repeated after a lost response, because
    a repetition finds no entry."""
    return Call(entries_api.cancel_scheduled._get_kwargs(key, scheduled_id), nothing)


def _page(answer: Answer) -> ScheduledPage:
    page: dict[str, Any] = answer.json()
    entries = [
        ScheduledEntry(each["scheduled_id"], each["deliver_at_ms"], fields_of(each))
        for each in page["scheduled"]
    ]
    return ScheduledPage(entries, page["next"])
