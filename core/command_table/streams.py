"""XDEL, XDELEX, XTRIM, XSETID, XCFGSET, XIDMPRECORD: delete entries, and change settings of a stream."""

from __future__ import annotations

from typing import Final

from tailrace.core import commands as c
from tailrace.core.command_table.arguments import IDS, POLICY, TRIM
from tailrace.core.command_table.descriptor import Descriptor, Row, Syntax
from tailrace.core.grammar import append as append_grammar
from tailrace.core.grammar import deletion as deletion_grammar
from tailrace.core.grammar import trimming as trimming_grammar
from tailrace.core.handlers import delete, keys, recording, trim

ROWS: Final[tuple[Row, ...]] = (
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
        recording.record_idempotency_key,
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
