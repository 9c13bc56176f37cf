"""PING, ECHO, TIME, INFO and CONFIG: commands about the server."""

from __future__ import annotations

from typing import Final

from tailrace.core import commands as c
from tailrace.core.command_table.descriptor import Descriptor, Reach, Row, Syntax
from tailrace.core.grammar import config as config_grammar
from tailrace.core.grammar import help_texts as help_texts_grammar
from tailrace.core.grammar import server as server_grammar
from tailrace.core.handlers import due, keys, retention

ROWS: Final[tuple[Row, ...]] = (
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
    Syntax("config|help", 2, help_texts_grammar.parse_help, "", "List the subcommands of CONFIG."),
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
