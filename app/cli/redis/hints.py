"""The syntax of each command for the prompt: completion words, the text of `help`, and hints.

The syntax and the summaries come from `core.command_table`. A syntax is a sequence of items. An item is a
word (`key`, `COUNT`, `*|id`) or an optional group in brackets, which can have several alternatives
(`[IDMPAUTO pid | IDMP pid iid]`) and can repeat (`[field value ...]`). Consecutive groups that begin with a
keyword can be typed in any order.

A hint is the arguments that may still follow the typed words. It never decides whether a command is valid:
where the words do not fit the syntax, there is no hint."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from tailrace.core.command_table import SYNTAXES

# --- the syntax of each command -----------------------------------------------------------------


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


# --- hints --------------------------------------------------------------------------------------


ELLIPSIS: Final = "..."

_FIXED: Final = re.compile(r"[A-Z][A-Z-]+|[=~]")
_STREAMS: Final = "STREAMS"
_NUMIDS: Final = "numids"


class Group(NamedTuple):
    """An optional group. `text`: as the syntax shows it. `repeats`: it can be typed any number of times."""

    text: str
    alternatives: tuple[tuple[Item, ...], ...]
    repeats: bool


Item: TypeAlias = "str | Group"
Items: TypeAlias = "tuple[Item, ...]"


class Left(NamedTuple):
    """The words that an item did not take. `hint`: what may follow; None if more words were needed."""

    words: Sequence[str]
    hint: str | None


def hint(words: Sequence[str]) -> str:
    """Return the arguments that may still follow `words`; empty if there are none."""
    if words and words[0].isdigit():
        words = words[1:]
    typed = find(words)
    if typed is None:
        return "|".join(subcommands(words[0])) if len(words) == 1 else ""
    return _after(_items(typed.usage.arguments), list(typed.arguments))


def fitting(text: str, room: int) -> str:
    """Return the beginning of `text` that fits into `room` columns, cut between words."""
    if len(text) <= room:
        return text
    kept = text[: max(room - 1, 0)].rpartition(" ")[0]
    return f"{kept} …" if kept and len(kept) + 2 <= room else ""


# --- reading the syntax ----------------------------------------------------------------------------


def _items(syntax: str) -> Items:
    return tuple(_item(part) for part in _split(syntax, " "))


def _item(part: str) -> Item:
    if not part.startswith("["):
        return part
    inner = part[1:-1]
    alternatives = tuple(_items(each.removesuffix(f" {ELLIPSIS}")) for each in _split(inner, " | "))
    return Group(part, alternatives, inner.endswith(ELLIPSIS))


def _split(text: str, separator: str) -> Iterator[str]:
    """Split at separators outside brackets."""
    depth, begin, at = 0, 0, 0
    while at < len(text):
        depth += {"[": 1, "]": -1}.get(text[at], 0)
        if depth == 0 and text.startswith(separator, at):
            yield text[begin:at]
            at = begin = at + len(separator)
        else:
            at += 1
    if text[begin:]:
        yield text[begin:]


def _fixed(item: str) -> frozenset[str]:
    """Return the words that a word of the syntax prescribes; empty for a placeholder such as `id|$`."""
    choices = item.split("|")
    return frozenset(choices) if all(map(_FIXED.fullmatch, choices)) else frozenset()


def _shown(items: Sequence[Item]) -> str:
    return " ".join(item.text if isinstance(item, Group) else item for item in items)


# --- following the words ---------------------------------------------------------------------------


def _after(items: Items, words: list[str]) -> str:
    """Return what may follow after all `words`; empty if the words do not fit."""
    left = _follow(items, words)
    return left.hint if left.hint is not None and not left.words else ""


def _follow(items: Items, words: Sequence[str]) -> Left:
    """Take the words of `items`. The hint is empty if the items are complete."""
    at = 0
    while at < len(items):
        item = items[at]
        if isinstance(item, Group):
            end = next((n for n in range(at, len(items)) if not isinstance(items[n], Group)), len(items))
            groups = [each for each in items[at:end] if isinstance(each, Group)]
            words, hint_ = _groups(groups, words)
            if not words:
                return Left((), _joined(hint_, _shown(items[end:])))
            at = end
            continue
        if not words:
            return Left((), _shown(items[at:]))
        if item == _STREAMS and words[0].upper() == _STREAMS:
            return Left((), _streams(len(words) - 1, _shown(items[at + 1 :])))
        if item == _NUMIDS:
            return _counted(items[at + 1 :], words)
        if (fixed := _fixed(item)) and words[0].upper() not in fixed:
            return Left(words, None)
        words = words[1:]
        at += 1
    return Left(words, "")


def _groups(groups: list[Group], words: Sequence[str]) -> Left:
    """Take the words of optional groups, in any order. The hint shows the groups that were not typed."""
    left = list(groups)
    while words:
        found = _chosen(left, words)
        if found is None:
            return Left(words, None)
        group, items = found
        if not group.repeats:
            left.remove(group)
            # After an option, a list of ids cannot continue.
            left = [each for each in left if not each.repeats]
        taken = _follow(items, words)
        if not taken.words:
            # A repeated group that is complete can be typed again; one that is not must be completed first.
            return Left((), _joined(taken.hint or "", _shown(left)))
        words = taken.words
    return Left((), _shown(left))


def _chosen(groups: Sequence[Group], words: Sequence[str]) -> tuple[Group, Items] | None:
    """Return the group that begins with the first word: with this keyword, otherwise with any word."""
    matching = [(group, items) for group in groups for items in group.alternatives if _begins(items, words)]
    return min(matching, key=lambda found: found[0].repeats, default=None)


def _begins(items: Items, words: Sequence[str]) -> bool:
    """Return whether `items` can begin with the first word."""
    for item in items:
        if isinstance(item, Group):
            if any(_begins(each, words) for each in item.alternatives):
                return True
            continue
        fixed = _fixed(item)
        return not fixed or words[0].upper() in fixed
    return False


def _streams(given: int, rest: str) -> str:
    """Return what may follow `STREAMS` and `given` words: as many ids as keys."""
    if given == 0:
        return rest
    return "" if given % 2 == 0 else rest.partition(" ")[2]


def _counted(items: Items, words: Sequence[str]) -> Left:
    """Take a number and so many ids."""
    if not words[0].isdigit():
        return Left(words, None)
    missing = int(words[0]) - len(words[1:])
    after = items[2:]
    if missing > 0:
        return Left((), _joined("id" if missing == 1 else f"id [{missing - 1} more]", _shown(after)))
    return _follow(after, words[1 + int(words[0]) :])


def _joined(*parts: str | None) -> str:
    return " ".join(part for part in parts if part)
