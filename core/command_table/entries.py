"""XADD, XLEN, XRANGE, XREVRANGE, XREAD: append entries and read them."""

from __future__ import annotations

from typing import Final

from tailrace.core import commands as c
from tailrace.core.command_table.arguments import POLICY, READ_LIMITS, READ_STREAMS, TRIM
from tailrace.core.command_table.descriptor import Descriptor, Row, Syntax, source_keys
from tailrace.core.grammar import append as append_grammar
from tailrace.core.grammar import ranges as ranges_grammar
from tailrace.core.grammar import reads as reads_grammar
from tailrace.core.handlers import append, producers, ranges, reads, schedule

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
        redis=(Syntax("xlen", 2, ranges_grammar.parse_xlen, "key", "Count entries."),),
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
                ranges_grammar.parse_xrange,
                "key start end [COUNT count]",
                "Entries from start up to end.",
            ),
            Syntax(
                "xrevrange",
                -4,
                ranges_grammar.parse_xrevrange,
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
    Descriptor(c.FindAppend, "check_import", producers.find_append, "append", is_read_only=True),
    Descriptor(c.InfoProducer, "get_producer", producers.info_producer, "read", is_read_only=True),
    Descriptor(c.TakeOverEpoch, "take_over_epoch", producers.take_over_epoch, "append"),
    Descriptor(c.SplitRange, "split_entries", ranges.split_range, "read", is_read_only=True),
    Descriptor(c.SeekRange, "seek_entries", ranges.seek_range, "read", is_read_only=True),
)
