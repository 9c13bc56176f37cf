"""DEL, EXISTS, TYPE, RENAME, COPY, KEYS, SCAN, DBSIZE, FLUSHDB and FLUSHALL: commands on whole streams; PING,
ECHO, TIME, INFO and CONFIG: commands about the server.
"""

from __future__ import annotations

from typing import Final

from tailrace.core import commands as c
from tailrace.core.command_table.descriptor import Descriptor, Reach, Row, Syntax, both_keys, named_keys
from tailrace.core.grammar import config as config_grammar
from tailrace.core.grammar import keys as keys_grammar
from tailrace.core.grammar import server as server_grammar
from tailrace.core.handlers import due, key_lists, keys, retention

ROWS: Final[tuple[Row, ...]] = (
    Descriptor(
        c.DeleteKeys,
        "del",
        keys.delete_keys,
        "admin",
        keys_of=named_keys,
        redis=(Syntax("del", -2, keys_grammar.parse_del, "key [key ...]", "Delete streams."),),
    ),
    Descriptor(
        c.CountKeys,
        "exists",
        keys.count_keys,
        "read",
        keys_of=named_keys,
        is_read_only=True,
        redis=(
            Syntax(
                "exists", -2, keys_grammar.parse_exists, "key [key ...]", "Count which of the keys exist."
            ),
            Syntax("type", 2, keys_grammar.parse_type, "key", "The type of a key."),
        ),
    ),
    Descriptor(
        c.RenameKey,
        "rename",
        keys.rename_key,
        "admin",
        keys_of=both_keys,
        redis=(Syntax("rename", 3, keys_grammar.parse_rename, "key newkey", "Rename a stream."),),
    ),
    Descriptor(
        c.CopyKey,
        "copy",
        keys.copy_key,
        "admin",
        keys_of=both_keys,
        grows=True,
        redis=(
            Syntax(
                "copy",
                -3,
                keys_grammar.parse_copy,
                "source destination [DB 0] [REPLACE]",
                "Copy a stream with its groups.",
            ),
        ),
    ),
    Descriptor(
        c.ListStreams, "list_streams", key_lists.list_streams, "read", reach=Reach.LIST, is_read_only=True
    ),
    Descriptor(
        c.MatchKeys,
        "keys",
        key_lists.match_keys,
        "admin",
        reach=Reach.LIST,
        is_read_only=True,
        redis=(Syntax("keys", 2, keys_grammar.parse_keys, "pattern", "List the keys that match."),),
    ),
    Descriptor(
        c.ScanKeys,
        "scan",
        key_lists.scan_keys,
        "admin",
        reach=Reach.LIST,
        is_read_only=True,
        redis=(
            Syntax(
                "scan",
                -2,
                keys_grammar.parse_scan,
                "cursor [MATCH pattern] [COUNT count] [TYPE type]",
                "List keys in steps.",
            ),
        ),
    ),
    Descriptor(
        c.KeyspaceSize,
        "dbsize",
        key_lists.keyspace_size,
        "admin",
        reach=Reach.LIST,
        is_read_only=True,
        redis=(Syntax("dbsize", 1, keys_grammar.parse_dbsize, "", "Count keys."),),
    ),
    Descriptor(
        c.Flush,
        "flushall",
        keys.flush,
        "admin",
        reach=Reach.ALL_KEYS,
        redis=(
            Syntax("flushdb", -1, keys_grammar.parse_flush, "[ASYNC|SYNC]", "Delete everything."),
            Syntax("flushall", -1, keys_grammar.parse_flush, "[ASYNC|SYNC]", "Delete everything."),
        ),
    ),
    Syntax("ping", -1, server_grammar.parse_ping, "[message]", "Answer."),
    Syntax("echo", 2, server_grammar.parse_echo, "message", "Return the message."),
    Descriptor(
        c.ServerTime,
        "time",
        keys.server_time,
        "read",
        reach=Reach.NO_KEY,
        is_read_only=True,
        redis=(Syntax("time", 1, server_grammar.parse_time, "", "The server's time."),),
    ),
    Descriptor(
        c.ServerInfo,
        "info",
        keys.server_info,
        "read",
        reach=Reach.ALL_KEYS,
        is_read_only=True,
        redis=(Syntax("info", -1, server_grammar.parse_info, "[section ...]", "The server's state."),),
    ),
    Descriptor(
        c.GetConfig,
        "config_get",
        keys.get_config,
        "admin",
        reach=Reach.ALL_KEYS,
        is_read_only=True,
        redis=(
            Syntax("config|get", -3, config_grammar.parse_get, "pattern [pattern ...]", "Read settings."),
        ),
    ),
    Descriptor(
        c.SetConfig,
        "config_set",
        keys.set_config,
        "admin",
        reach=Reach.ALL_KEYS,
        redis=(
            Syntax(
                "config|set", -4, config_grammar.parse_set, "name value [name value ...]", "Change settings."
            ),
        ),
    ),
    Syntax("config|help", 2, server_grammar.parse_help, "", "List the subcommands of CONFIG."),
    Descriptor(
        c.ExpireIdempotencyKeys,
        "expire_idempotency_keys",
        keys.expire_idempotency_keys,
        "admin",
        reach=Reach.INTERNAL,
    ),
    Descriptor(c.DoDue, "do_due", due.do_due, "admin", reach=Reach.INTERNAL),
    Descriptor(c.SweepRetention, "sweep_retention", retention.sweep_retention, "admin", reach=Reach.INTERNAL),
)
