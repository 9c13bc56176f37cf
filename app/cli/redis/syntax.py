"""The syntax of each command for the prompt: completion words, and the text of `help`.

It owns the presentation. The syntax and the summaries come from `core.command_table`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from tailrace.core.command_table import SYNTAXES


class Usage(NamedTuple):
    """The arguments that follow the name, and a summary of the command."""

    arguments: str
    summary: str


USAGES: Final[Mapping[str, Usage]] = {
    **{
        name.replace("|", " ").upper(): Usage(syntax.arguments, syntax.summary)
        for name, syntax in SYNTAXES.items()
    },
    "MULTI": Usage("", "Begin a transaction."),
    "EXEC": Usage("", "Run the commands of the transaction at once."),
    "DISCARD": Usage("", "Cancel the transaction."),
}

_KEYWORD: Final = re.compile(r"[A-Z][A-Z-]+")
_KEYS_FOLLOW: Final = "STREAMS"


class Typed(NamedTuple):
    """The usage of a typed command, and the words that follow its name."""

    name: str
    usage: Usage
    arguments: Sequence[str]


def find(words: Sequence[str]) -> Typed | None:
    """Return the command that the first one or two words name; None if they name none yet."""
    for length in (2, 1):
        name = " ".join(words[:length]).upper()
        if len(words) >= length and name in USAGES:
            return Typed(name, USAGES[name], words[length:])
    return None


def subcommands(name: str) -> list[str]:
    """Return the subcommands of the command `name`; empty if it has none."""
    prefix = f"{name.upper()} "
    return [each.removeprefix(prefix) for each in USAGES if each.startswith(prefix)]


def command_names() -> list[str]:
    """Return the first words of all commands, sorted, without duplicates."""
    return sorted({name.split()[0] for name in USAGES})


def keywords(typed: Typed) -> list[str]:
    """Return the keywords of the command that were not typed yet."""
    there = {word.upper() for word in typed.arguments}
    found = dict.fromkeys(_KEYWORD.findall(typed.usage.arguments))
    return [word for word in found if word not in there]


def takes_key(typed: Typed) -> bool:
    """Return whether the next word may be a key."""
    if _KEYS_FOLLOW in typed.usage.arguments:
        return _KEYS_FOLLOW in [word.upper() for word in typed.arguments]
    if typed.usage.arguments.startswith("key [key"):
        return True
    return typed.usage.arguments.startswith("key") and not typed.arguments


def help_text(words: Sequence[str]) -> str:
    """Return the text of `help`: for the command that `words` name, or for all commands without `words`."""
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
