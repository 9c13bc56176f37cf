"""XGROUP and XINFO: groups and consumers, and the state of streams."""

from __future__ import annotations

from typing import Final

from tailrace.core import commands as c
from tailrace.core.command_table.descriptor import Descriptor, Reach, Row, Syntax, dead_letter_keys
from tailrace.core.grammar import groups as groups_grammar
from tailrace.core.grammar import help_texts as help_texts_grammar
from tailrace.core.grammar import info as info_grammar
from tailrace.core.handlers import consumers, expiry, group_settings, groups, info, redrive

ROWS: Final[tuple[Row, ...]] = (
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
    Descriptor(c.Redrive, "redrive", redrive.redrive, "admin", keys_of=dead_letter_keys, grows=True),
    Descriptor(c.ExpireConsumers, "expire_consumers", expiry.expire_consumers, "admin", reach=Reach.INTERNAL),
    Syntax("xgroup|help", 2, help_texts_grammar.parse_help, "", "List the subcommands of XGROUP."),
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
    Syntax("xinfo|help", 2, help_texts_grammar.parse_help, "", "List the subcommands of XINFO."),
)
