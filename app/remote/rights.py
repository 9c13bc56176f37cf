"""The rights that the user of a gateway needs at the engine, and which of them are missing.

It owns the list of commands, each as a question that changes nothing: about a key that does not exist, or
with an argument that the command refuses. `docs/gateway.md` has a line for the engine's ACL with all these
rights.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tailrace.app.remote.functions.detection import ABSENT
from tailrace.app.remote.link.port import EngineError, Link, Words

_G: Final = b"g"

ALWAYS: Final[tuple[Words, ...]] = (
    # Waiting reads.
    (b"CLIENT", b"TRACKING", b"OFF"),
    (b"PUBLISH", b"tailrace:wake:none", b""),
    # Keys.
    (b"EXISTS", ABSENT),
    (b"TYPE", ABSENT),
    (b"DEL", ABSENT),
    (b"RENAME", ABSENT, ABSENT),
    (b"COPY", ABSENT, ABSENT),
    (b"SCAN", b"0", b"COUNT", b"1"),
    # Streams.
    (b"XADD", ABSENT, b"NOMKSTREAM", b"*", b"f", b"v"),
    (b"XLEN", ABSENT),
    (b"XRANGE", ABSENT, b"-", b"+"),
    (b"XREVRANGE", ABSENT, b"+", b"-"),
    (b"XREAD", b"STREAMS", ABSENT, b"0"),
    (b"XTRIM", ABSENT, b"MAXLEN", b"0"),
    (b"XDEL", ABSENT, b"1-1"),
    (b"XSETID", ABSENT, b"1-1"),
    (b"XINFO", b"STREAM", ABSENT),
    (b"XINFO", b"GROUPS", ABSENT),
    (b"XINFO", b"CONSUMERS", ABSENT, _G),
    # Groups.
    (b"XGROUP", b"CREATE", ABSENT, _G, b"0"),
    (b"XGROUP", b"SETID", ABSENT, _G, b"0"),
    (b"XGROUP", b"DESTROY", ABSENT, _G),
    (b"XGROUP", b"CREATECONSUMER", ABSENT, _G, _G),
    (b"XGROUP", b"DELCONSUMER", ABSENT, _G, _G),
    (b"XREADGROUP", b"GROUP", _G, _G, b"STREAMS", ABSENT, b">"),
    (b"XACK", ABSENT, _G, b"1-1"),
    (b"XPENDING", ABSENT, _G),
    (b"XCLAIM", ABSENT, _G, _G, b"0", b"1-1"),
    (b"XAUTOCLAIM", ABSENT, _G, _G, b"0", b"0"),
    # The engine.
    (b"TIME",),
    (b"ROLE",),
    (b"INFO", b"replication"),
    (b"WAIT", b"0", b"1"),
)
"""Commands that the gateway sends. Some request fails without each of them."""

OF_THE_LIBRARY: Final[tuple[Words, ...]] = (
    (b"HGET", ABSENT, b"f"),
    (b"HMGET", ABSENT, b"f"),
    (b"HKEYS", ABSENT),
    (b"HGETALL", ABSENT),
    (b"HSET", ABSENT, b"f", b"v", b"a field without a value"),
    (b"HDEL", ABSENT, b"f"),
    (b"HINCRBY", ABSENT, b"f", b"not a number"),
    (b"UNLINK", ABSENT),
    (b"COMMAND", b"INFO", b"XADD"),
)
"""Commands that the library sends, and that concern its hashes."""

FOR_THE_LIBRARY: Final[tuple[Words, ...]] = (
    (b"FUNCTION", b"LOAD", b"return 1"),
    (b"FCALL", b"tailrace_none", b"0"),
    (b"FCALL_RO", b"tailrace_none", b"0"),
)
"""Commands without which the gateway works, and refuses the features that need the library."""

_COMMAND: Final = re.compile(rb"'([^']+)' command")


async def missing_rights(link: Link, address: str, key: bytes, commands: Sequence[Words]) -> list[str]:
    """Return the rights that the user lacks at the master at `address`, which serves `key`, as the words of
    an ACL. Raises `LinkDown`."""
    missing: dict[str, None] = {}
    for words in commands:
        named = [key if word == ABSENT else word for word in words]
        try:
            if ABSENT in words:
                await link.call(named, key=key, is_write=False)
            else:
                await link.call_node(address, words, is_write=False)
        except EngineError as error:
            if error.code == b"NOPERM":
                missing[_right(error)] = None
    try:
        await link.call_together([[b"EXISTS", key]], key=key, is_write=False, atomic=True)
    except EngineError as error:
        if error.code == b"NOPERM":
            missing[_right(error)] = None
    return list(missing)


def _right(error: EngineError) -> str:
    """Return the word that grants what the engine refused: a command, its keys, or its channel."""
    found = _COMMAND.search(error.line)
    if found is not None:
        return f"+{found[1].decode()}"
    return "&tailrace:wake:*" if b"channel" in error.line else "~*"
