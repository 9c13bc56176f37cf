"""XREADGROUP, XACK, XACKDEL, XNACK, XPENDING, XCLAIM, XAUTOCLAIM, XGROUP and XINFO: groups, their deliveries,
and the state of streams.
"""

from __future__ import annotations

from typing import Final

from tailrace.core import commands as c
from tailrace.core.command_table.descriptor import (
    IDS,
    POLICY,
    READ_LIMITS,
    READ_STREAMS,
    Descriptor,
    Reach,
    Row,
    Syntax,
    dead_letter_keys,
    source_keys,
)
from tailrace.core.grammar import claims as claims_grammar
from tailrace.core.grammar import deletion as deletion_grammar
from tailrace.core.grammar import groups as groups_grammar
from tailrace.core.grammar import info as info_grammar
from tailrace.core.grammar import reads as reads_grammar
from tailrace.core.grammar import server as server_grammar
from tailrace.core.handlers import (
    acks,
    claims,
    consumers,
    dead_letters,
    delete,
    expiry,
    group_reads,
    group_settings,
    groups,
    info,
    leases,
    pending_views,
)

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
        claims.auto_claim,
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
    Descriptor(
        c.CreateGroup,
        "xgroup_create",
        groups.create_group,
        "admin",
        grows=True,
        redis=(
            Syntax(
                "xgroup|create",
                -5,
                groups_grammar.parse_create,
                "key group id|$ [MKSTREAM] [ENTRIESREAD count]",
                "Add a group.",
            ),
        ),
    ),
    Descriptor(
        c.SetGroupPosition,
        "xgroup_setid",
        groups.set_group_position,
        "admin",
        redis=(
            Syntax(
                "xgroup|setid",
                -5,
                groups_grammar.parse_setid,
                "key group id|$ [ENTRIESREAD count]",
                "Move a group.",
            ),
        ),
    ),
    Descriptor(
        c.DestroyGroup,
        "xgroup_destroy",
        groups.destroy_group,
        "admin",
        redis=(Syntax("xgroup|destroy", 4, groups_grammar.parse_destroy, "key group", "Remove a group."),),
    ),
    Descriptor(
        c.CreateConsumer,
        "xgroup_createconsumer",
        consumers.create_consumer,
        "consume",
        grows=True,
        redis=(
            Syntax(
                "xgroup|createconsumer",
                5,
                groups_grammar.parse_createconsumer,
                "key group consumer",
                "Add a consumer.",
            ),
        ),
    ),
    Descriptor(
        c.DeleteConsumer,
        "xgroup_delconsumer",
        consumers.delete_consumer,
        "admin",
        redis=(
            Syntax(
                "xgroup|delconsumer",
                5,
                groups_grammar.parse_delconsumer,
                "key group consumer",
                "Remove a consumer and its pending entries.",
            ),
        ),
    ),
    Descriptor(
        c.ConfigureGroup,
        "configure_group",
        group_settings.configure_group,
        "admin",
        keys_of=dead_letter_keys,
    ),
    Descriptor(c.Redrive, "redrive", dead_letters.redrive, "admin", keys_of=dead_letter_keys, grows=True),
    Descriptor(c.ExpireConsumers, "expire_consumers", expiry.expire_consumers, "admin", reach=Reach.INTERNAL),
    Syntax("xgroup|help", 2, server_grammar.parse_help, "", "List the subcommands of XGROUP."),
    Descriptor(
        c.InfoStream,
        "xinfo_stream",
        info.info_stream,
        "read",
        is_read_only=True,
        redis=(
            Syntax(
                "xinfo|stream",
                -3,
                info_grammar.parse_stream,
                "key [FULL [COUNT count]]",
                "Show a stream.",
            ),
        ),
    ),
    Descriptor(
        c.InfoGroups,
        "xinfo_groups",
        info.info_groups,
        "read",
        is_read_only=True,
        redis=(Syntax("xinfo|groups", 3, info_grammar.parse_groups, "key", "Show the groups of a stream."),),
    ),
    Descriptor(
        c.InfoConsumers,
        "xinfo_consumers",
        info.info_consumers,
        "read",
        is_read_only=True,
        redis=(
            Syntax(
                "xinfo|consumers",
                4,
                info_grammar.parse_consumers,
                "key group",
                "Show the consumers of a group.",
            ),
        ),
    ),
    Syntax("xinfo|help", 2, server_grammar.parse_help, "", "List the subcommands of XINFO."),
)
