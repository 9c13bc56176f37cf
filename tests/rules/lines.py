"""Error lines that several rules mention, exactly as `docs/semantics.md` has them."""

from __future__ import annotations

from typing import Final

INVALID_ID: Final = "ERR Invalid stream ID specified as stream command argument"
NOT_GREATER: Final = "ERR The ID specified in XADD is equal or smaller than the target stream top item"
ZERO_ID: Final = "ERR The ID specified in XADD must be greater than 0-0"
EXHAUSTED: Final = "ERR The stream has exhausted the last possible ID, unable to add more items"
SYNTAX: Final = "ERR syntax error"
NOT_AN_INTEGER: Final = "ERR value is not an integer or out of range"
NO_SUCH_KEY: Final = "ERR no such key"
INVALID_START: Final = "ERR invalid start ID for the interval"
INVALID_END: Final = "ERR invalid end ID for the interval"
LIMIT_WITHOUT_TILDE: Final = "ERR syntax error, LIMIT cannot be used without the special ~ option"
LIMIT_WITHOUT_STRATEGY: Final = (
    "ERR syntax error, LIMIT cannot be used without specifying a trimming strategy"
)

MAX_U64: Final = 18446744073709551615
MAX_ID: Final = f"{MAX_U64}-{MAX_U64}"


def arity(command: str) -> str:
    """The line for a wrong number of arguments."""
    return f"ERR wrong number of arguments for '{command}' command"


def no_group(key: str, group: str) -> str:
    """The line of XPENDING, XCLAIM, XAUTOCLAIM and XNACK for a missing key or group."""
    return f"NOGROUP No such key '{key}' or consumer group '{group}'"


def no_group_to_read(key: str, group: str) -> str:
    """The line of XREADGROUP for a missing key or group."""
    return no_group(key, group) + " in XREADGROUP with GROUP option"
