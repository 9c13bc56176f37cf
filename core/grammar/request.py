"""The result of parsing: a command, and the function that writes its reply.

Owns the types between the grammar and its callers; parses nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, TypeAlias

from msgspec import Struct

from tailrace.core.commands import Access, Command


class SimpleString(str):
    """A RESP simple string, such as OK, PONG or stream. All other text in a reply is bytes."""

    __slots__ = ()


class Rows:
    """An array whose items are made while it is read, so that a long reply never exists completely as
    objects.

    `pieces`: returns a new iterator over lists of consecutive items at each call.
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
"""A RESP2 reply: None is nil or the null array, bytes are bulk strings, maps are flat lists."""

ToResp: TypeAlias = Callable[[Any], Resp]
"""A function that writes the engine's reply as RESP2."""

Parsed: TypeAlias = tuple[Command | None, ToResp]
"""The result of a parser: the command and the function that writes its reply. For None see `literal`."""

OK = SimpleString("OK")


def literal(reply: Resp) -> Parsed:
    """Return a request that needs no engine: it has no command, and its `to_resp` returns `reply`."""
    return None, lambda _: reply


def as_count(reply: int | None) -> Resp:
    """Return the reply of a command that returns a count. None, for a missing stream or consumer, becomes
    0."""
    return int(reply or 0)


def as_ok(_reply: object) -> Resp:
    """Return the reply OK, of a command that otherwise raises."""
    return OK


class Request(Struct, frozen=True):
    """One parsed command.

    `name`: lower case, with the subcommand (``xadd``, ``xgroup|create``). `access`: the scope that it needs.
    `command`: the command to execute; None if the reply needs no engine and is `to_resp(None)`.
    """

    name: str
    access: Access
    command: Command | None
    to_resp: ToResp
