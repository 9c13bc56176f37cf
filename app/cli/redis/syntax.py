"""How each command is written: the hint behind the cursor, the words that complete it, the text of `help`.

It owns texts for eyes. Whether a command parses is `core.grammar`'s to say; a test holds the two together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

_POLICY: Final = "[KEEPREF|DELREF|ACKED]"
_TRIM: Final = "MAXLEN|MINID [=|~] threshold [LIMIT count]"
_LIMITS: Final = "[COUNT count] [MAXCOUNT count] [MAXSIZE bytes] [BLOCK milliseconds]"
_IDS: Final = "IDS numids id [id ...]"


class Usage(NamedTuple):
    """What follows the name, and what the command is for."""

    arguments: str
    summary: str


USAGES: Final[Mapping[str, Usage]] = {
    "XADD": Usage(
        f"key [NOMKSTREAM] {_POLICY} [IDMPAUTO pid | IDMP pid iid] [{_TRIM}]"
        " *|id field value [field value ...]",
        "Append an entry.",
    ),
    "XLEN": Usage("key", "Count entries."),
    "XRANGE": Usage("key start end [COUNT count]", "Entries from start up to end."),
    "XREVRANGE": Usage("key end start [COUNT count]", "Entries from end down to start."),
    "XREAD": Usage(f"{_LIMITS} STREAMS key [key ...] id [id ...]", "Entries after positions; may wait."),
    "XREADGROUP": Usage(
        f"GROUP group consumer {_LIMITS} [CLAIM min-idle-ms] [NOACK] STREAMS key [key ...] id [id ...]",
        "Entries for a consumer of a group; may wait.",
    ),
    "XACK": Usage("key group id [id ...]", "Acknowledge deliveries."),
    "XACKDEL": Usage(f"key group {_POLICY} {_IDS}", "Acknowledge deliveries and delete their entries."),
    "XNACK": Usage(
        f"key group SILENT|FAIL|FATAL {_IDS} [RETRYCOUNT count] [FORCE]", "Give deliveries back to the group."
    ),
    "XPENDING": Usage("key group [[IDLE min-idle-ms] start end count [consumer]]", "Show pending entries."),
    "XCLAIM": Usage(
        "key group consumer min-idle-ms id [id ...]"
        " [IDLE ms] [TIME unix-ms] [RETRYCOUNT count] [FORCE] [JUSTID] [LASTID id]",
        "Take over deliveries by id.",
    ),
    "XAUTOCLAIM": Usage(
        "key group consumer min-idle-ms start [COUNT count] [JUSTID]", "Take over idle deliveries."
    ),
    "XDEL": Usage("key id [id ...]", "Delete entries."),
    "XDELEX": Usage(f"key {_POLICY} {_IDS}", "Delete entries, with a policy for groups."),
    "XTRIM": Usage(f"key {_TRIM} {_POLICY}", "Drop the oldest entries."),
    "XSETID": Usage("key last-id [ENTRIESADDED count] [MAXDELETEDID id]", "Set a stream's last id."),
    "XCFGSET": Usage("key [IDMP-DURATION seconds] [IDMP-MAXSIZE count]", "Configure a stream's idempotency."),
    "XIDMPRECORD": Usage("key pid iid id", "Record an entry as appended with an idempotency key."),
    "XGROUP CREATE": Usage("key group id|$ [MKSTREAM] [ENTRIESREAD count]", "Add a group."),
    "XGROUP SETID": Usage("key group id|$ [ENTRIESREAD count]", "Move a group."),
    "XGROUP DESTROY": Usage("key group", "Remove a group."),
    "XGROUP CREATECONSUMER": Usage("key group consumer", "Add a consumer."),
    "XGROUP DELCONSUMER": Usage("key group consumer", "Remove a consumer and its pending entries."),
    "XGROUP HELP": Usage("", "List the subcommands of XGROUP."),
    "XINFO STREAM": Usage("key [FULL [COUNT count]]", "Show a stream."),
    "XINFO GROUPS": Usage("key", "Show the groups of a stream."),
    "XINFO CONSUMERS": Usage("key group", "Show the consumers of a group."),
    "XINFO HELP": Usage("", "List the subcommands of XINFO."),
    "DEL": Usage("key [key ...]", "Delete streams."),
    "EXISTS": Usage("key [key ...]", "Count which of the keys exist."),
    "TYPE": Usage("key", "The type of a key."),
    "RENAME": Usage("key newkey", "Rename a stream."),
    "COPY": Usage("source destination [DB 0] [REPLACE]", "Copy a stream with its groups."),
    "KEYS": Usage("pattern", "List the keys that match."),
    "SCAN": Usage("cursor [MATCH pattern] [COUNT count] [TYPE type]", "List keys in steps."),
    "DBSIZE": Usage("", "Count keys."),
    "FLUSHDB": Usage("[ASYNC|SYNC]", "Delete everything."),
    "FLUSHALL": Usage("[ASYNC|SYNC]", "Delete everything."),
    "PING": Usage("[message]", "Answer."),
    "ECHO": Usage("message", "Return the message."),
    "TIME": Usage("", "The server's time."),
    "INFO": Usage("[section ...]", "The server's state."),
    "CONFIG GET": Usage("pattern [pattern ...]", "Read settings."),
    "CONFIG SET": Usage("name value [name value ...]", "Change settings."),
    "CONFIG HELP": Usage("", "List the subcommands of CONFIG."),
    "MULTI": Usage("", "Begin a transaction."),
    "EXEC": Usage("", "Run the commands of the transaction at once."),
    "DISCARD": Usage("", "Cancel the transaction."),
}

_KEYWORD: Final = re.compile(r"[A-Z][A-Z-]+")
_KEYS_FOLLOW: Final = "STREAMS"


class Typed(NamedTuple):
    """A usage and the words behind its name."""

    name: str
    usage: Usage
    arguments: Sequence[str]


def find(words: Sequence[str]) -> Typed | None:
    """The usage that the first one or two words name, None where they name none (yet)."""
    for length in (2, 1):
        name = " ".join(words[:length]).upper()
        if len(words) >= length and name in USAGES:
            return Typed(name, USAGES[name], words[length:])
    return None


def subcommands(name: str) -> list[str]:
    """The second words of the command `name`; empty where it has none."""
    prefix = f"{name.upper()} "
    return [each.removeprefix(prefix) for each in USAGES if each.startswith(prefix)]


def command_names() -> list[str]:
    """The first words, each once."""
    return sorted({name.split()[0] for name in USAGES})


def keywords(typed: Typed) -> list[str]:
    """The fixed words of a command that it does not yet have."""
    there = {word.upper() for word in typed.arguments}
    found = dict.fromkeys(_KEYWORD.findall(typed.usage.arguments))
    return [word for word in found if word not in there]


def takes_key(typed: Typed) -> bool:
    """Whether the next word may be a stream's key."""
    if _KEYS_FOLLOW in typed.usage.arguments:
        return _KEYS_FOLLOW in [word.upper() for word in typed.arguments]
    if typed.usage.arguments.startswith("key [key"):
        return True
    return typed.usage.arguments.startswith("key") and not typed.arguments


def hint(words: Sequence[str]) -> str:
    """What is still to be written behind `words`, as far as they follow the usage word by word."""
    typed = find(words)
    if typed is None:
        return "|".join(subcommands(words[0])) if len(words) == 1 else ""
    parts, given = _parts(typed.usage.arguments), len(typed.arguments)
    there = {word.upper() for word in typed.arguments}
    for at, part in enumerate(parts):
        if part in there and _KEYWORD.fullmatch(part):
            # All before a keyword that stands outside brackets is behind us.
            given = len(typed.arguments) - [word.upper() for word in typed.arguments].index(part) - 1
            parts = parts[at + 1 :]
            break
    while given and parts and not parts[0].startswith("["):
        parts, given = parts[1:], given - 1
    return " ".join(part for part in parts if there.isdisjoint(_KEYWORD.findall(part)))


def _parts(usage: str) -> list[str]:
    """The usage cut at the blanks that stand outside brackets."""
    parts, depth = [""], 0
    for character in usage:
        depth += {"[": 1, "]": -1}.get(character, 0)
        if character == " " and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part for part in parts if part]


def help_text(words: Sequence[str]) -> str:
    """The text of `help`, of one command where `words` name it."""
    wanted = " ".join(words).upper()
    names = [name for name in USAGES if not wanted or name == wanted or name.startswith(f"{wanted} ")]
    if not names:
        return f"No help for {' '.join(words)!r}.\n"
    if wanted:
        return (
            "".join(f"\n  {name} {USAGES[name].arguments}\n  {USAGES[name].summary}\n" for name in names)
            + "\n"
        )
    width = max(map(len, names))
    lines = [f"  {name:<{width}}  {USAGES[name].summary}" for name in names]
    return "\n".join(
        [
            *lines,
            "",
            "  help NAME shows the syntax of a command. clear, quit and exit control the prompt.",
            "",
        ]
    )
