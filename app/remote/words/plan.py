"""A plan: the Redis words that carry out one command, and the function that reads their answers.

All words of a plan go to one slot, so plans can be joined: a transaction is the words of all plans between
MULTI and EXEC. A plan never sends anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from msgspec import Struct

from tailrace.app.remote.link.port import EngineError, Resp
from tailrace.core.replies import Reply

Words: TypeAlias = list[bytes]
"""One command in Redis's words."""

Result: TypeAlias = "Resp | EngineError"
"""The answer to one of the words."""

Read: TypeAlias = Callable[[Sequence[Result]], Reply]
"""Reads the answers to all words of a plan. Raises `EngineError` or `StreamError` if the command was
refused."""


class Plan(Struct, frozen=True):
    """How one command is carried out."""

    commands: Sequence[Words]
    """The words, in order; empty if the reply needs no engine."""
    read: Read
    """Makes the reply of the answers, one for each of `commands`."""
    key: bytes | None
    """The key whose slot has all keys of the plan; None: any master."""
    is_write: bool = False
    """Whether the words change something: after a lost connection a write is not sent again."""
    is_atomic: bool = False
    """Whether other clients must see all changes of the plan or none."""
    trailing: int = 0
    """How many of the last words may fail without consequence for the command, which has then been carried
    out."""
    wakes: bool = False
    """Whether the engine tells waiting readers nothing of this change, so that the store has to wake them."""


def waking(plan: Plan) -> Plan:
    """Return the plan of a write after which the store wakes the waiting readers of its key."""
    return Plan(plan.commands, plan.read, plan.key, is_write=True, wakes=True)


def value(result: Result) -> Resp:
    """Return the answer; raise it if it is an error."""
    if isinstance(result, EngineError):
        raise result
    return result


def values(result: Result) -> list[Resp]:
    """Return the items of an answer that is an array; none for nil."""
    found = value(result)
    assert found is None or isinstance(found, list)
    return [] if found is None else [value(each) for each in found]


def number(result: Result) -> int:
    """Return an answer that is an integer."""
    found = value(result)
    assert isinstance(found, int)
    return found


def text(result: Result) -> bytes:
    """Return an answer that is a string."""
    found = value(result)
    assert isinstance(found, bytes)
    return found


def last(read: Callable[[Result], Reply]) -> Read:
    """Return the reader of a plan whose reply is the answer to its last words; the others must not fail."""

    def read_last(results: Sequence[Result]) -> Reply:
        for result in results[:-1]:
            value(result)
        return read(results[-1])

    return read_last


def nothing(result: Result) -> None:
    """Return the reply of a command that only succeeds: None."""
    value(result)
