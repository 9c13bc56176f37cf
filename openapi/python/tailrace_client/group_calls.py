"""The calls of a consumer group. This module sends nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal, NamedTuple, TypeAlias

from tailrace_client import replies
from tailrace_client.call import Answer, Call, given, member, nothing, record, records
from tailrace_client.entries import Entry, Slice, entry_of
from tailrace_client.generated import models
from tailrace_client.generated.api import consumers as consumers_api
from tailrace_client.generated.api import groups as groups_api
from tailrace_client.generated.api import pending as pending_api
from tailrace_client.generated.api import reads as reads_api
from tailrace_client.generated.types import UNSET, Unset
from tailrace_client.group_settings import Backoff, Setting
from tailrace_client.json_lines import slices_of
from tailrace_client.stream_calls import References

NackMode: TypeAlias = Literal["silent", "fail", "fatal"]


class ScanResult(NamedTuple):
    """The result of an autoclaim.

    `entries`: the claimed entries. `cursor`: the start of the next scan; `0-0` at the end. `deleted_ids`:
    entries that were pending and are deleted from the stream; they are no longer pending.
    """

    entries: list[Entry]
    cursor: str
    deleted_ids: list[str]


class ClaimChanges(NamedTuple):
    """What a claim changes besides the owner of the entries; `Group.claim` documents it."""

    idle_ms: int | None = None
    delivered_at_ms: int | None = None
    retry_count: int | None = None
    force: bool = False
    last_id: str | None = None


def create(key: str, group: str, after: str, *, create_stream: bool) -> Call[replies.Group]:
    """Return the call of XGROUP CREATE. The call is not repeated after a lost response, because an existing
    group is an error."""
    body = models.GroupBody(after=after, create_stream=create_stream)
    return Call(groups_api.xgroup_create._get_kwargs(key, group, body=body), record(replies.Group))


def destroy(key: str, group: str) -> Call[None]:
    """Return the call of XGROUP DESTROY."""
    return Call(groups_api.xgroup_destroy._get_kwargs(key, group), nothing)


def set_position(key: str, group: str, after: str, entries_read: int | None) -> Call[None]:
    """Return the call of XGROUP SETID."""
    body = models.GroupPositionBody(after=after, entries_read=given(entries_read))
    return Call(groups_api.xgroup_setid._get_kwargs(key, group, body=body), nothing)


def info(key: str, group: str) -> Call[replies.Group]:
    """Return the call that reads the row of the group in XINFO GROUPS."""
    return Call(groups_api.xinfo_group._get_kwargs(key, group), record(replies.Group), is_idempotent=True)


def configure(key: str, group: str, settings: Mapping[str, Setting | Unset | None]) -> Call[replies.Group]:
    """Return the call that changes the settings of the group that are set here; None removes one."""
    request = groups_api.configure_group._get_kwargs(key, group, body=models.GroupSettingsBody())
    # The model cannot hold null, which removes a setting.
    request["json"] = {
        name: asdict(value) if isinstance(value, Backoff) else value
        for name, value in settings.items()
        if not isinstance(value, Unset)
    }
    return Call(request, record(replies.Group), is_idempotent=True)


def redrive(key: str, group: str, ids: Sequence[str], start: str, limit: int) -> Call[replies.RedriveReply]:
    """Return the call that sends dead letters back. A repetition sends back the others: after a lost response
    the reply is that of the repetition."""
    body = (
        models.RedriveBody(ids=list(ids), start=UNSET, limit=limit)
        if ids
        else models.RedriveBody(start=start, limit=limit)
    )
    request = groups_api.redrive._get_kwargs(key, group, body=body)
    return Call(request, record(replies.RedriveReply))


def consumers(key: str, group: str) -> Call[list[replies.Consumer]]:
    """Return the call of XINFO CONSUMERS."""
    request = consumers_api.xinfo_consumers._get_kwargs(key, group)
    return Call(request, records(replies.Consumer, "consumers"), is_idempotent=True)


def create_consumer(key: str, group: str, consumer: str) -> Call[bool]:
    """Return the call of XGROUP CREATECONSUMER."""
    request = consumers_api.xgroup_createconsumer._get_kwargs(key, group, consumer)
    return Call(request, member("created"), is_idempotent=True)


def delete_consumer(
    key: str, group: str, consumer: str, *, force: bool, transfer_to: str | None
) -> Call[int]:
    """Return the call of XGROUP DELCONSUMER."""
    request = consumers_api.xgroup_delconsumer._get_kwargs(
        key, group, consumer, force=force or UNSET, transfer_to=given(transfer_to)
    )
    return Call(request, member("pending_dropped"))


def read(  # noqa: PLR0913 - the options of XREADGROUP
    group: str,
    consumer: str,
    positions: Mapping[str, str],
    *,
    count: int | None = None,
    max_count: int | None = None,
    max_bytes: int | None = None,
    wait_ms: int | None = None,
    min_count: int | None = None,
    linger_ms: int | None = None,
    claim_min_idle_ms: int | None = None,
    noack: bool = False,
) -> Call[list[Slice]]:
    """XREADGROUP over the streams of `positions`. Each position is `>`, or an id to read the consumer's own
    pending entries.

    The call is not idempotent: the entries of a lost response are pending.
    """
    body = models.GroupReadBody(
        group=group,
        consumer=consumer,
        streams=[models.GroupReadPosition(key=key, id=id_) for key, id_ in positions.items()],
        count=given(count),
        max_count=given(max_count),
        max_bytes=given(max_bytes),
        wait_ms=given(wait_ms),
        min_count=given(min_count),
        linger_ms=given(linger_ms),
        claim_min_idle_ms=given(claim_min_idle_ms),
        noack=noack or UNSET,
    )
    # The default shape is omitted: the server answers such requests fastest.
    request = reads_api.xreadgroup._get_kwargs(body=body, shape=UNSET)
    return Call(request, lambda answer: slices_of(answer.content), waits_ms=wait_ms or 0)


def ack(
    key: str, group: str, ids: Sequence[str], *, delete: bool = False, references: References | None = None
) -> Call[int]:
    """Return the call of XACK, or XACKDEL with `delete`. A repetition has no further effect; after a lost
    response the count is that of the repetition."""
    body = models.AckBody(ids=list(ids), delete=delete or UNSET, references=given(references))
    return Call(
        pending_api.xack._get_kwargs(key, group, body=body), member("acknowledged"), is_idempotent=True
    )


def nack(
    key: str,
    group: str,
    ids: Sequence[str],
    mode: NackMode = "fail",
    retry_count: int | None = None,
    delay_ms: int | None = None,
) -> Call[int]:
    """Return the call of XNACK. The call is not repeated after a lost response, because by then another
    consumer may have the entries."""
    body = models.NackBody(ids=list(ids), mode=mode, retry_count=given(retry_count), delay_ms=given(delay_ms))
    return Call(pending_api.xnack._get_kwargs(key, group, body=body), member("nacked"))


def claim(
    key: str, group: str, consumer: str, ids: Sequence[str], min_idle_ms: int, changes: ClaimChanges
) -> Call[list[Entry]]:
    """Return the call of XCLAIM."""
    body = models.ClaimBody(
        consumer=consumer,
        min_idle_ms=min_idle_ms,
        ids=list(ids),
        idle_ms=given(changes.idle_ms),
        delivered_at_ms=given(changes.delivered_at_ms),
        retry_count=given(changes.retry_count),
        force=changes.force or UNSET,
        last_id=given(changes.last_id),
    )
    return Call(pending_api.xclaim._get_kwargs(key, group, body=body, shape=UNSET), _entries)


def extend(key: str, group: str, consumer: str, ids: Sequence[str]) -> Call[list[str]]:
    """Return the call that begins the idle time of the consumer's own entries again."""
    body = models.ExtendBody(consumer=consumer, ids=list(ids))
    request = pending_api.extend._get_kwargs(key, group, body=body)
    return Call(request, member("extended"), is_idempotent=True)


def autoclaim(
    key: str, group: str, consumer: str, min_idle_ms: int, start: str, count: int
) -> Call[ScanResult]:
    """Return the call of XAUTOCLAIM."""
    body = models.AutoClaimBody(consumer=consumer, min_idle_ms=min_idle_ms, start=start, count=count)
    return Call(pending_api.xautoclaim._get_kwargs(key, group, body=body, shape=UNSET), _scan_result)


def pending(
    key: str,
    group: str,
    *,
    start: str = "-",
    end: str = "+",
    count: int | None = None,
    consumer: str | None = None,
    min_idle_ms: int | None = None,
) -> Call[list[replies.PendingItem]]:
    """Return the call of XPENDING with a range."""
    request = pending_api.xpending._get_kwargs(
        key,
        group,
        start=start,
        end=end,
        count=given(count),
        consumer=given(consumer),
        min_idle_ms=given(min_idle_ms),
    )
    return Call(request, records(replies.PendingItem, "pending"), is_idempotent=True)


def pending_summary(key: str, group: str) -> Call[replies.PendingOverview]:
    """Return the call of XPENDING."""
    request = pending_api.xpending_summary._get_kwargs(key, group)
    return Call(request, record(replies.PendingOverview), is_idempotent=True)


def _entries(answer: Answer) -> list[Entry]:
    return [entry_of(entry) for entry in answer.json()["entries"]]


def _scan_result(answer: Answer) -> ScanResult:
    reply: dict[str, Any] = answer.json()
    return ScanResult(_entries(answer), reply["cursor"], reply["deleted_ids"])
