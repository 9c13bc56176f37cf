"""Reads the blocks of Redis commands and replies that `docs/semantics.md` shows.

A line is a command, quoted as in `tailrace cli`; a prefix such as `alice> ` names a connection other than the
default one. The lines after it that begin with ``#`` are its reply: the JSON that `/v1/command` returns in
`result`, the error line, or ``(waits)``. ``# alice> `` begins the later reply of a waiting connection. This
module runs nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

from tailrace.app.cli.redis.quoting import split_words

Words: TypeAlias = list[bytes]
Reply: TypeAlias = Any
"""JSON, an `ErrorText`, or `WAITS`."""

OWN: Final = ""
"""The default connection."""

WAITS: Final = "(waits)"
_NAMED: Final = re.compile(r"([a-z]+)> (.*)", re.DOTALL)
_REPLY: Final = "#"


@dataclass(frozen=True)
class ErrorText:
    """A complete error line."""

    line: str


@dataclass(frozen=True)
class Step:
    """One step. `words`: the command for the connection `client`, or None if `reply` ends its wait."""

    client: str
    words: Words | None
    reply: Reply


class Peer(Protocol):
    """Executes commands over several connections."""

    def execute(self, client: str, words: Words) -> Reply:
        """Return the reply to a command; `WAITS` if the read blocks on a connection other than `OWN`."""

    def awaited(self, client: str) -> Reply:
        """Return the reply that a waiting connection gets."""


def steps_of(block: str) -> Iterator[Step]:
    """Yield the steps of one block, in order."""
    for client, command, reply in _parts(block):
        yield Step(client, split_words(command.encode()) if command else None, _reply(reply))


def _parts(block: str) -> Iterator[tuple[str, str, str]]:
    """Yield connection, command and reply, each as text; the end of a wait has no command."""
    client, command, reply = OWN, "", ""
    for line in block.splitlines():
        is_reply = line.startswith(_REPLY)
        content = line.removeprefix(_REPLY).strip() if is_reply else line
        named = _NAMED.fullmatch(content)
        if is_reply and named is None:
            reply += content + "\n"
            continue
        if command or reply:
            yield client, command, reply
        client, content = named.groups() if named else (OWN, content)
        command, reply = ("", content) if is_reply else (content, "")
    yield client, command, reply


def _reply(text: str) -> Reply:
    text = text.strip()
    if text == WAITS:
        return WAITS
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return ErrorText(text)


def check_block(block: str, peer: Peer, alike: Callable[[Words, Reply], Any]) -> None:
    """Run all steps. Each reply must equal the reply in the block, both in the form that `alike` returns."""
    sent: dict[str, Words] = {}
    for step in steps_of(block):
        words = sent[step.client] if step.words is None else step.words
        sent[step.client] = words
        given = peer.awaited(step.client) if step.words is None else peer.execute(step.client, words)
        assert alike(words, given) == alike(words, step.reply), step
