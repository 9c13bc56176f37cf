"""The result of parsing: the command, and the function that writes its reply.

Owns the vocabulary between the grammar and its callers, and parses nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, TypeAlias

from msgspec import Struct

from tailrace.core.commands import Access, Command


class SimpleString(str):
    """A RESP simple string, such as OK, PONG or stream; everything else that is text is bytes."""

    __slots__ = ()


class Rows:
    """An array whose items are made when they are asked for: a long reply never exists as objects whole.

    `pieces`: gives the items again at each call, some of them at a time.
    """

    __slots__ = ("_length", "pieces")

    def __init__(self, length: int, pieces: Callable[[], Iterator[list[Resp]]]) -> None:
        self._length = length
        self.pieces = pieces

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Resp]:
        return chain.from_iterable(self.pieces())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, list | Rows) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment] # as a list


Resp: TypeAlias = "int | bytes | SimpleString | list[Resp] | Rows | None"
"""A RESP2 reply: None is nil and the null array alike, bytes are bulk strings, maps are flat lists."""

ToResp: TypeAlias = Callable[[Any], Resp]
"""Writes the engine's reply as RESP2."""

Parsed: TypeAlias = tuple[Command | None, ToResp]
"""What a parser returns: the command and how to write its reply; for None see `literal`."""

OK = SimpleString("OK")


def literal(reply: Resp) -> Parsed:
    """A request that the grammar answers by itself, without the engine: its `to_resp` returns `reply`."""
    return None, lambda _: reply


def as_count(reply: int | None) -> Resp:
    """The reply of a command that counts, or says yes or no; a missing stream or consumer counts none."""
    return int(reply or 0)


def as_ok(_reply: object) -> Resp:
    """The reply of a command that either fails or answers OK."""
    return OK


class Request(Struct, frozen=True):
    """One parsed command.

    `name`: lower case, with its subcommand (``xadd``, ``xgroup|create``). `access`: what it needs. `command`:
    what to execute; None if the grammar has the answer already, which is then `to_resp(None)`.
    """

    name: str
    access: Access
    command: Command | None
    to_resp: ToResp
