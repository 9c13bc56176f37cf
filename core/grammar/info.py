"""XINFO: streams, groups and consumers as maps, in Redis's order of members."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tailrace.core.commands import FULL_COUNT_DEFAULT, InfoConsumers, InfoGroups, InfoStream
from tailrace.core.grammar.refusals import subcommand_syntax
from tailrace.core.grammar.request import Parsed, Resp
from tailrace.core.grammar.shapes import entry_list, id_bulk, map_of, row_list
from tailrace.core.grammar.words import Words, deferred
from tailrace.core.replies import (
    ConsumerFullInfo,
    ConsumerInfo,
    Entries,
    GroupFullInfo,
    GroupInfo,
    PendingEntry,
    StreamFullInfo,
    StreamInfo,
)

_FULL_WORDS: Final = 1
_FULL_COUNT_WORDS: Final = 3


def parse_stream(words: Words) -> Parsed:
    """``XINFO STREAM key [FULL [COUNT n]]``; Redis looks for the key before it reads the options."""
    key = words.take_key()
    if not words.left:
        return InfoStream(key), _stream
    command = InfoStream(key, deferred(lambda: _take_full_count(words)))
    return command, _stream_full


def _take_full_count(words: Words) -> int:
    refused = subcommand_syntax("xinfo", words.typed)
    if words.left not in (_FULL_WORDS, _FULL_COUNT_WORDS) or not words.take_option(b"full"):
        raise refused
    if not words.left:
        return FULL_COUNT_DEFAULT
    if not words.take_option(b"count", 1):
        raise refused
    count = words.take_integer()
    return count if count >= 0 else FULL_COUNT_DEFAULT


def parse_groups(words: Words) -> Parsed:
    """``XINFO GROUPS key``."""
    key = words.take_key()
    return InfoGroups(key), _groups


def parse_consumers(words: Words) -> Parsed:
    """``XINFO CONSUMERS key group``."""
    key, group = words.take_key(), words.take_group()
    return InfoConsumers(key, group), _consumers


# --- replies ---------------------------------------------------------------------------------------


def _stream(info: StreamInfo) -> Resp:
    return map_of(
        _totals(info)
        | {
            b"groups": info.group_count,
            b"first-entry": _one_entry(info.first_entry),
            b"last-entry": _one_entry(info.last_entry),
        }
    )


def _one_entry(entries: Entries) -> Resp:
    return next(iter(entry_list(entries)), None)


def _stream_full(full: StreamFullInfo) -> Resp:
    return map_of(
        _totals(full.info)
        | {
            b"entries": entry_list(full.entries),
            b"groups": row_list(full.groups, _group_full),
        }
    )


def _totals(info: StreamInfo) -> dict[bytes, Resp]:
    """Return the first members of both forms. A radix tree of n keys has n + 1 nodes, because of its root."""
    return {
        b"length": info.length,
        b"radix-tree-keys": info.block_count,
        b"radix-tree-nodes": info.block_count + 1,
        b"last-generated-id": id_bulk(info.last_id),
        b"max-deleted-entry-id": id_bulk(info.max_deleted_id),
        b"entries-added": info.entries_added,
        b"recorded-first-entry-id": id_bulk(info.first_id),
        b"idmp-duration": info.idmp_duration_s,
        b"idmp-maxsize": info.idmp_maxsize,
        b"pids-tracked": info.producer_count,
        b"iids-tracked": info.idmp_key_count,
        b"iids-added": info.idmp_keys_added,
        b"iids-duplicates": info.idmp_duplicates,
    }


def _group_full(group: GroupFullInfo) -> Resp:
    return map_of(
        {
            b"name": group.name,
            b"last-delivered-id": id_bulk(group.last_delivered_id),
            b"entries-read": group.entries_read,
            b"lag": group.lag,
            b"pel-count": group.pending_count,
            b"nacked-count": group.nacked_count,
            b"pending": row_list(group.pending, _pending_of_group),
            b"consumers": row_list(group.consumers, _consumer_full),
            **({} if group.first_held_id is None else {b"first-held-id": id_bulk(group.first_held_id)}),
        }
    )


def _pending_of_group(entry: PendingEntry) -> Resp:
    return [id_bulk(entry.id), entry.consumer or b"", entry.delivered_at_ms, entry.deliveries]


def _consumer_full(consumer: ConsumerFullInfo) -> Resp:
    return map_of(
        {
            b"name": consumer.name,
            b"seen-time": consumer.seen_at_ms,
            b"active-time": consumer.active_at_ms,
            b"pel-count": consumer.pending_count,
            b"pending": row_list(consumer.pending, _pending_of_consumer),
        }
    )


def _pending_of_consumer(entry: PendingEntry) -> Resp:
    return [id_bulk(entry.id), entry.delivered_at_ms, entry.deliveries]


def _groups(groups: Sequence[GroupInfo]) -> Resp:
    return row_list(groups, _group)


def _group(group: GroupInfo) -> Resp:
    return map_of(
        {
            b"name": group.name,
            b"consumers": group.consumer_count,
            b"pending": group.pending_count,
            b"last-delivered-id": id_bulk(group.last_delivered_id),
            b"entries-read": group.entries_read,
            b"lag": group.lag,
        }
    )


def _consumers(consumers: Sequence[ConsumerInfo]) -> Resp:
    return row_list(consumers, _consumer)


def _consumer(consumer: ConsumerInfo) -> Resp:
    return map_of(
        {
            b"name": consumer.name,
            b"pending": consumer.pending_count,
            b"idle": consumer.idle_ms,
            b"inactive": consumer.inactive_ms,
        }
    )
