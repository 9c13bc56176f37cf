"""PING, ECHO, TIME and INFO: commands about the server; and the texts of XGROUP HELP, XINFO HELP and CONFIG
HELP, which need no engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from tailrace.core.commands import ServerInfo, ServerTime
from tailrace.core.grammar.refusals import wrong_arity
from tailrace.core.grammar.request import Parsed, Resp, SimpleString, literal
from tailrace.core.grammar.words import Words
from tailrace.core.replies import ServerStats

_TEXTS: Final[dict[str, Sequence[tuple[str, str]]]] = {
    "xgroup": (
        ("CREATE <key> <group> <id|$> [MKSTREAM] [ENTRIESREAD <n>]", "Add a group that reads after <id>."),
        ("SETID <key> <group> <id|$> [ENTRIESREAD <n>]", "Move a group: its next entry is after <id>."),
        ("DESTROY <key> <group>", "Remove a group with its consumers and pending entries."),
        ("CREATECONSUMER <key> <group> <consumer>", "Add a consumer without pending entries."),
        ("DELCONSUMER <key> <group> <consumer>", "Remove a consumer with its pending entries."),
    ),
    "xinfo": (
        ("STREAM <key> [FULL [COUNT <n>]]", "Show a stream; FULL adds entries, groups and consumers."),
        ("GROUPS <key>", "Show the groups of a stream."),
        ("CONSUMERS <key> <group>", "Show the consumers of a group."),
    ),
    "config": (
        ("GET <pattern> [<pattern> ...]", "Show the settings whose names match."),
        ("SET <name> <value> [<name> <value> ...]", "Change settings, all or none."),
    ),
}


def parse_help(words: Words) -> Parsed:
    """``XGROUP HELP``, ``XINFO HELP`` or ``CONFIG HELP``."""
    container = words.name.partition("|")[0]
    return literal(_lines(container))


def _lines(container: str) -> list[Resp]:
    subcommands = (*_TEXTS[container], ("HELP", "Print this text."))
    heading = f"{container.upper()} has these subcommands:"
    described = (line for usage, meaning in subcommands for line in (usage, f"    {meaning}"))
    return [SimpleString(line) for line in (heading, *described)]


REDIS_VERSION: Final = "8.10.0-compatible"
"""The version of Redis with which the stream commands are compatible."""

_DISTRIBUTION: Final = "tailrace"
_ALL_SECTIONS: Final = frozenset({"all", "default", "everything"})
_PONG: Final = SimpleString("PONG")


def parse_ping(words: Words) -> Parsed:
    """``PING [message]``."""
    if words.left > 1:
        raise wrong_arity(words.name)
    return literal(words.take() if words.left else _PONG)


def parse_echo(words: Words) -> Parsed:
    """``ECHO message``."""
    return literal(words.take())


def parse_time(_words: Words) -> Parsed:
    """``TIME``."""
    return ServerTime(), _time


def _time(now_ms: int) -> Resp:
    """Whole seconds, and the remaining microseconds."""
    return [b"%d" % (now_ms // 1000), b"%d" % (now_ms % 1000 * 1000)]


# --- INFO ------------------------------------------------------------------------------------------


def parse_info(words: Words) -> Parsed:
    """``INFO [section ...]``; unknown sections are ignored."""
    sections = frozenset(word.lower().decode("latin-1") for word in words.take_rest())
    if not sections or sections & _ALL_SECTIONS:
        sections = frozenset(_SECTIONS)
    return ServerInfo(), partial(_info, sections)


def _info(sections: frozenset[str], stats: ServerStats) -> Resp:
    texts = (
        f"# {section.capitalize()}\r\n"
        + "".join(f"{name}:{value}\r\n" for name, value in members(stats).items())
        for section, members in _SECTIONS.items()
        if section in sections
    )
    return "\r\n".join(texts).encode()


def _server(stats: ServerStats) -> dict[str, object]:
    return {
        "redis_version": REDIS_VERSION,
        "tailrace_version": _own_version(),
        "redis_mode": "standalone",
        "server_time_usec": stats.now_ms * 1000,
    }


@cache
def _own_version() -> str:
    try:
        return version(_DISTRIBUTION)
    except PackageNotFoundError:
        return "unknown"


def _clients(stats: ServerStats) -> dict[str, object]:
    return {"blocked_clients": stats.blocked_clients}


def _memory(_stats: ServerStats) -> dict[str, object]:
    """Return the section on memory. The server evicts no keys, and the engine does not measure the
    process."""
    return {"maxmemory": 0, "maxmemory_policy": "noeviction"}


def _stats(stats: ServerStats) -> dict[str, object]:
    return {
        "stream_entries": stats.entries,
        "stream_groups": stats.groups,
        "stream_pending_entries": stats.pending,
    }


def _keyspace(stats: ServerStats) -> dict[str, object]:
    """Return the section on the keyspace. As in Redis, an empty database is not listed."""
    return {"db0": f"keys={stats.streams},expires=0,avg_ttl=0"} if stats.streams else {}


_SECTIONS: Final = {
    "server": _server,
    "clients": _clients,
    "memory": _memory,
    "stats": _stats,
    "keyspace": _keyspace,
}
