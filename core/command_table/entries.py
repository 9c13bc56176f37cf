"""XADD, XLEN, XRANGE, XREVRANGE, XREAD, XDEL, XDELEX, XTRIM, XSETID, XCFGSET and XIDMPRECORD: entries, and
the settings of a stream.
"""

from __future__ import annotations

from typing import Final

from tailrace.core import commands as c
from tailrace.core.command_table.descriptor import (
    IDS,
    POLICY,
    READ_LIMITS,
    READ_STREAMS,
    TRIM,
    Descriptor,
    Row,
    Syntax,
    source_keys,
)
from tailrace.core.grammar import append as append_grammar
from tailrace.core.grammar import deletion as deletion_grammar
from tailrace.core.grammar import reads as reads_grammar
from tailrace.core.grammar import trimming as trimming_grammar
from tailrace.core.handlers import append, delete, keys, ranges, reads, schedule, trim

ROWS: Final[tuple[Row, ...]] = (
    Descriptor(
        c.Append,
        "xadd",
        append.append,
        "append",
        grows=True,
        redis=(
            Syntax(
                "xadd",
                -5,
                append_grammar.parse_xadd,
                f"key [NOMKSTREAM] {POLICY} [IDMPAUTO pid | IDMP pid iid] [{TRIM}]"
                " *|id field value [field value ...]",
                "Append an entry.",
            ),
        ),
    ),
    Descriptor(
        c.StreamLength,
        "xlen",
        ranges.stream_length,
        "read",
        is_read_only=True,
        redis=(Syntax("xlen", 2, reads_grammar.parse_xlen, "key", "Count entries."),),
    ),
    Descriptor(
        c.Range,
        "xrange",
        ranges.read_range,
        "read",
        is_read_only=True,
        redis=(
            Syntax(
                "xrange",
                -4,
                reads_grammar.parse_xrange,
                "key start end [COUNT count]",
                "Entries from start up to end.",
            ),
            Syntax(
                "xrevrange",
                -4,
                reads_grammar.parse_xrevrange,
                "key end start [COUNT count]",
                "Entries from end down to start.",
            ),
        ),
    ),
    Descriptor(
        c.Read,
        "xread",
        reads.read,
        "read",
        keys_of=source_keys,
        is_read_only=True,
        redis=(
            Syntax(
                "xread",
                -4,
                reads_grammar.parse_xread,
                f"{READ_LIMITS} {READ_STREAMS}",
                "Entries after positions; may wait.",
            ),
        ),
    ),
    Descriptor(c.ScheduleEntries, "schedule_entries", schedule.schedule_entries, "append", grows=True),
    Descriptor(c.ListScheduled, "list_scheduled", schedule.list_scheduled, "read", is_read_only=True),
    Descriptor(c.CancelScheduled, "cancel_scheduled", schedule.cancel_scheduled, "append"),
    Descriptor(c.FindAppend, "check_import", append.find_append, "append", is_read_only=True),
    Descriptor(c.InfoProducer, "get_producer", append.info_producer, "read", is_read_only=True),
    Descriptor(c.TakeOverEpoch, "take_over_epoch", append.take_over_epoch, "append"),
    Descriptor(c.SplitRange, "split_entries", ranges.split_range, "read", is_read_only=True),
    Descriptor(c.SeekRange, "seek_entries", ranges.seek_range, "read", is_read_only=True),
    Descriptor(
        c.DeleteEntries,
        "xdel",
        delete.delete_entries,
        "admin",
        redis=(Syntax("xdel", -3, deletion_grammar.parse_xdel, "key id [id ...]", "Delete entries."),),
    ),
    Descriptor(
        c.DeleteEntriesByPolicy,
        "xdelex",
        delete.delete_entries_by_policy,
        "admin",
        redis=(
            Syntax(
                "xdelex",
                -5,
                deletion_grammar.parse_xdelex,
                f"key {POLICY} {IDS}",
                "Delete entries, with a policy for groups.",
            ),
        ),
    ),
    Descriptor(
        c.TrimStream,
        "xtrim",
        trim.trim,
        "admin",
        redis=(
            Syntax(
                "xtrim",
                -4,
                trimming_grammar.parse_xtrim,
                f"key {TRIM} {POLICY}",
                "Drop the oldest entries.",
            ),
        ),
    ),
    Descriptor(
        c.SetStreamPosition,
        "xsetid",
        keys.set_stream_position,
        "admin",
        redis=(
            Syntax(
                "xsetid",
                -3,
                append_grammar.parse_xsetid,
                "key last-id [ENTRIESADDED count] [MAXDELETEDID id]",
                "Set a stream's last id.",
            ),
        ),
    ),
    Descriptor(
        c.ConfigureStream,
        "xcfgset",
        keys.configure_stream,
        "admin",
        redis=(
            Syntax(
                "xcfgset",
                -2,
                append_grammar.parse_xcfgset,
                "key [IDMP-DURATION seconds] [IDMP-MAXSIZE count]",
                "Configure a stream's idempotency.",
            ),
        ),
    ),
    Descriptor(
        c.RecordIdempotencyKey,
        "xidmprecord",
        append.record_idempotency_key,
        "admin",
        grows=True,
        redis=(
            Syntax(
                "xidmprecord",
                5,
                append_grammar.parse_xidmprecord,
                "key pid iid id",
                "Record an entry as appended with an idempotency key.",
            ),
        ),
    ),
    Descriptor(c.CreateStream, "create_stream", keys.create_stream, "admin", grows=True),
)
