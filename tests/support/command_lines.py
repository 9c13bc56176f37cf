"""One example line for every command of the grammar, on the streams `race:france` and `race:usa`.

Owns the lines; a test checks that each command of the command table has one.
"""

from __future__ import annotations

from typing import Final

from tailrace.core.command_table import SYNTAXES

LINES: Final = {
    "xadd": "XADD race:france * rider Castilla",
    "xsetid": "XSETID race:france 9999999999999-0",
    "xcfgset": "XCFGSET race:france IDMP-MAXSIZE 50",
    "xidmprecord": "XIDMPRECORD race:france gate 1 1-1",
    "xtrim": "XTRIM race:france MAXLEN 1000",
    "xdel": "XDEL race:france 1-1",
    "xdelex": "XDELEX race:france IDS 1 1-1",
    "xack": "XACK race:france judges 1-1",
    "xackdel": "XACKDEL race:france judges ACKED IDS 1 1-1",
    "xnack": "XNACK race:france judges FAIL IDS 1 1-1",
    "xlen": "XLEN race:france",
    "xrange": "XRANGE race:france - +",
    "xrevrange": "XREVRANGE race:france + -",
    "xread": "XREAD STREAMS race:france race:usa 0 0",
    "xreadgroup": "XREADGROUP GROUP judges alice STREAMS race:france >",
    "xpending": "XPENDING race:france judges",
    "xclaim": "XCLAIM race:france judges alice 0 1-1",
    "xautoclaim": "XAUTOCLAIM race:france judges alice 0 0",
    "del": "DEL race:usa race:france",
    "exists": "EXISTS race:france race:usa",
    "type": "TYPE race:france",
    "copy": "COPY race:france race:renamed REPLACE",
    "rename": "RENAME race:france race:renamed",
    "dbsize": "DBSIZE",
    "keys": "KEYS *",
    "scan": "SCAN 0 COUNT 100",
    "flushdb": "FLUSHDB",
    "flushall": "FLUSHALL",
    "ping": "PING",
    "echo": "ECHO hello",
    "time": "TIME",
    "info": "INFO",
    "xgroup|create": "XGROUP CREATE race:france stewards $",
    "xgroup|setid": "XGROUP SETID race:france judges 0",
    "xgroup|destroy": "XGROUP DESTROY race:france stewards",
    "xgroup|createconsumer": "XGROUP CREATECONSUMER race:france judges bob",
    "xgroup|delconsumer": "XGROUP DELCONSUMER race:france judges bob",
    "xgroup|help": "XGROUP HELP",
    "xinfo|stream": "XINFO STREAM race:france",
    "xinfo|groups": "XINFO GROUPS race:france",
    "xinfo|consumers": "XINFO CONSUMERS race:france judges",
    "xinfo|help": "XINFO HELP",
    "config|get": "CONFIG GET *",
    "config|set": "CONFIG SET stream-idmp-maxsize 100",
    "config|help": "CONFIG HELP",
}

KNOWN: Final = frozenset(SYNTAXES)
"""The names of all commands of the grammar."""


def words_of(name: str) -> list[str]:
    """Return the words of the example line of a command."""
    return LINES[name].split()
