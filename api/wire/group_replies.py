"""Writes engine replies about groups, consumers and pending entries as JSON.

It owns the members and their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import asdict

from tailrace.api.name_members import named
from tailrace.api.wire.replies import Json, entries_json, formatted, optional_id
from tailrace.api.wire.turns import Slices
from tailrace.core.errors import no_group
from tailrace.core.log.entry_json import Shape
from tailrace.core.replies import (
    ClaimReply,
    ConsumerFullInfo,
    ConsumerInfo,
    ExtendReply,
    GroupFullInfo,
    GroupInfo,
    GroupSettings,
    PendingEntry,
    PendingSummaryReply,
    RedriveReply,
    Reply,
)
from tailrace.core.stream_id import format_id

_BACKOFF: Final = "backoff_"


def group_json(group: GroupInfo) -> Json:
    """Return the state of a consumer group."""
    settings = group.settings
    stream = settings.dead_letter_stream
    return {
        **(named(name=group.name) if stream is None else named(name=group.name, dead_letter_stream=stream)),
        "consumers": group.consumer_count,
        "pending": group.pending_count,
        "last_delivered_id": format_id(group.last_delivered_id),
        "entries_read": group.entries_read,
        "lag": _lag(group),
        **({} if group.lag_ms is None else {"lag_ms": group.lag_ms}),
        **_set_values(asdict(settings)),
        **_backoff_json(settings),
        **({} if group.held_count is None else {"held": group.held_count}),
        **({} if group.keys_in_flight is None else {"keys_in_flight": group.keys_in_flight}),
        **({"dead_letters": group.dead_letter_count} if stream or group.dead_letter_count else {}),
    }


def _lag(group: GroupInfo | GroupFullInfo) -> int | None:
    """Return how many entries the group has not delivered; a gateway knows only what XINFO shows."""
    return group.lag if group.unread_count is None else group.unread_count


def group_named(infos: Reply, key: bytes, group: bytes) -> GroupInfo:
    """Return the group's description. Raises `StreamError` NOGROUP."""
    assert isinstance(infos, list)
    for info in infos:
        if isinstance(info, GroupInfo) and info.name == group:
            return info
    raise no_group(key, group)


def _set_values(settings: Json) -> Json:
    """Return the settings that are set, without the dead-letter stream, whose name needs an encoding, and the
    backoff."""
    return {
        name: value
        for name, value in settings.items()
        if isinstance(value, int | str) and not name.startswith(_BACKOFF)
    }


def _backoff_json(settings: GroupSettings) -> Json:
    if settings.backoff_initial_ms is None:
        return {}
    backoff = {
        "initial_ms": settings.backoff_initial_ms,
        "factor": settings.backoff_factor,
        "max_ms": settings.backoff_max_ms,
    }
    return {"backoff": backoff}


def extend_json(reply: ExtendReply) -> Json:
    """Return the ids whose leases were extended, and those that the consumer does not own."""
    return {"extended": formatted(reply.extended), "lost": formatted(reply.lost)}


def redrive_json(reply: RedriveReply) -> Json:
    """Return the dead letters that were sent back."""
    pairs = zip(formatted(reply.ids), formatted(reply.new_ids), strict=True)
    return {
        "redriven": [{"id": value, "new_id": new_value} for value, new_value in pairs],
        "skipped": reply.skipped,
        "next": optional_id(reply.next),
    }


def consumer_json(consumer: ConsumerInfo) -> Json:
    """Return the state of a consumer."""
    return {
        **named(name=consumer.name),
        "pending": consumer.pending_count,
        "idle_ms": consumer.idle_ms,
        "inactive_ms": _known(consumer.inactive_ms),
    }


def pending_json(entry: PendingEntry) -> Json:
    """Return a pending entry."""
    return {
        "id": format_id(entry.id),
        **named(consumer=entry.consumer),
        "idle_ms": _known(entry.idle_ms),
        "deliveries": entry.deliveries,
        "delivered_at_ms": entry.delivered_at_ms,
        **({} if entry.claimable_at_ms is None else {"claimable_at_ms": entry.claimable_at_ms}),
    }


def _known(value: int) -> int | None:
    """Return `value`, or None for -1, which the engine uses for unknown times."""
    return None if value < 0 else value


async def whole_overview_json(reply: PendingSummaryReply) -> Json:
    """Return the summary of a group's pending entries. Other requests are served while many consumers are
    written."""
    return overview_json(reply, await Slices().rows(reply.consumers, owner_json))


def overview_json(reply: PendingSummaryReply, owners: object) -> Json:
    """Return the summary of a group's pending entries. `owners`: the result of `owner_json` for each of its
    consumers."""
    return {
        "count": reply.count,
        "min_id": optional_id(reply.min_id),
        "max_id": optional_id(reply.max_id),
        "consumers": owners,
    }


def owner_json(owner: tuple[bytes, int]) -> Json:
    """Return a consumer of a summary, with its number of pending entries."""
    name, count = owner
    return {**named(name=name), "pending": count}


def claim_json(reply: ClaimReply, shape: Shape) -> Json:
    """Return the claimed entries, or only their ids."""
    if reply.just_id:
        return {"ids": formatted(reply.entries.ids)}
    return {"entries": entries_json(reply.entries, shape)}


def autoclaim_json(reply: ClaimReply, shape: Shape) -> Json:
    """Return the result of a scan for idle pending entries."""
    return {
        "cursor": format_id(reply.cursor),
        **claim_json(reply, shape),
        "deleted_ids": formatted(reply.deleted_ids),
    }


async def pending_page_json(entries: Sequence[PendingEntry], most: int) -> Json:
    """Return a page of at most `most` pending entries. Other requests are served while a long page is
    written."""
    return pending_page(entries, most, await Slices().rows(entries, pending_json))


def pending_page(entries: Sequence[PendingEntry], most: int, rows: object) -> Json:
    """Return a page of at most `most` pending entries, whose rows are written already."""
    return {"pending": rows, "next": format_id(entries[-1].id) if len(entries) == most else None}


async def group_detail_json(group: GroupFullInfo, slices: Slices) -> Json:
    """Return a group with its pending entries and consumers."""
    return {
        **named(name=group.name),
        "last_delivered_id": format_id(group.last_delivered_id),
        "entries_read": group.entries_read,
        "lag": _lag(group),
        "pending": group.pending_count,
        "nacked": group.nacked_count,
        "pending_entries": await slices.rows(group.pending, pending_json),
        "consumers": [await _consumer_detail_json(consumer, slices) for consumer in group.consumers],
    }


async def _consumer_detail_json(consumer: ConsumerFullInfo, slices: Slices) -> Json:
    await slices.count(len(consumer.name))
    return {
        **named(name=consumer.name),
        "seen_at_ms": consumer.seen_at_ms,
        "active_at_ms": _known(consumer.active_at_ms),
        "pending": consumer.pending_count,
        "pending_entries": await slices.rows(consumer.pending, pending_json),
    }
