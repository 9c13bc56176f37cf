"""XREADGROUP, XACK, XACKDEL, XNACK, XPENDING, XCLAIM, XAUTOCLAIM: deliveries of a group."""

from __future__ import annotations

from typing import Final

from tailrace.core import commands as c
from tailrace.core.command_table.arguments import IDS, POLICY, READ_LIMITS, READ_STREAMS
from tailrace.core.command_table.descriptor import Descriptor, Row, Syntax, source_keys
from tailrace.core.grammar import claims as claims_grammar
from tailrace.core.grammar import deletion as deletion_grammar
from tailrace.core.grammar import reads as reads_grammar
from tailrace.core.handlers import acks, auto_claim, claims, delete, group_reads, leases, pending_views

ROWS: Final[tuple[Row, ...]] = (
    Descriptor(
        c.ReadGroup,
        "xreadgroup",
        group_reads.read_group,
        "consume",
        keys_of=source_keys,
        redis=(
            Syntax(
                "xreadgroup",
                -7,
                reads_grammar.parse_xreadgroup,
                f"GROUP group consumer {READ_LIMITS} [CLAIM min-idle-ms] [NOACK] {READ_STREAMS}",
                "Entries for a consumer of a group; may wait.",
            ),
        ),
    ),
    Descriptor(
        c.Acknowledge,
        "xack",
        acks.ack,
        "consume",
        redis=(
            Syntax(
                "xack", -4, deletion_grammar.parse_xack, "key group id [id ...]", "Acknowledge deliveries."
            ),
        ),
    ),
    Descriptor(
        c.AcknowledgeAndDelete,
        "xackdel",
        delete.acknowledge_and_delete,
        "consume",
        redis=(
            Syntax(
                "xackdel",
                -6,
                deletion_grammar.parse_xackdel,
                f"key group {POLICY} {IDS}",
                "Acknowledge deliveries and delete their entries.",
            ),
        ),
    ),
    Descriptor(
        c.NegativeAcknowledge,
        "xnack",
        acks.nack,
        "consume",
        redis=(
            Syntax(
                "xnack",
                -7,
                deletion_grammar.parse_xnack,
                f"key group SILENT|FAIL|FATAL {IDS} [RETRYCOUNT count] [FORCE]",
                "Give deliveries back to the group.",
            ),
        ),
    ),
    Descriptor(
        c.PendingSummary,
        "xpending",
        pending_views.pending_summary,
        "read",
        is_read_only=True,
        redis=(
            Syntax(
                "xpending",
                -3,
                claims_grammar.parse_xpending,
                "key group [[IDLE min-idle-ms] start end count [consumer]]",
                "Show pending entries.",
            ),
        ),
    ),
    Descriptor(c.PendingRange, "xpending", pending_views.pending_range, "read", is_read_only=True),
    Descriptor(c.ExtendLeases, "extend", leases.extend, "consume"),
    Descriptor(
        c.Claim,
        "xclaim",
        claims.claim,
        "consume",
        redis=(
            Syntax(
                "xclaim",
                -6,
                claims_grammar.parse_xclaim,
                "key group consumer min-idle-ms id [id ...]"
                " [IDLE ms] [TIME unix-ms] [RETRYCOUNT count] [FORCE] [JUSTID] [LASTID id]",
                "Take over deliveries by id.",
            ),
        ),
    ),
    Descriptor(
        c.AutoClaim,
        "xautoclaim",
        auto_claim.auto_claim,
        "consume",
        redis=(
            Syntax(
                "xautoclaim",
                -6,
                claims_grammar.parse_xautoclaim,
                "key group consumer min-idle-ms start [COUNT count] [JUSTID]",
                "Take over idle deliveries.",
            ),
        ),
    ),
)
