"""A request and how its answer is read, apart from who sends it: the sync and the async client share all of
these.

The request comes from the generated operation, so that paths, parameters and bodies have one source, the
published document. It owns the two forms of a call; `stream_calls`, `group_calls` and `tail` make them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from tailrace_client.generated.types import UNSET, Unset

T = TypeVar("T")


class Answer(Protocol):
    """What calls read of an answer; `httpx.Response` is one."""

    @property
    def status_code(self) -> int:
        """Of HTTP."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """By name, in any case."""
        ...

    @property
    def content(self) -> bytes:
        """The body."""
        ...

    def json(self) -> Any:
        """What the body says."""
        ...


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """`request`: arguments of `httpx.Client.request`. `read`: from a successful answer to the result.

    `is_idempotent`: repeating it can double nothing. `waits_ms`: how long the server may hold the answer back
    on purpose.
    """

    request: Mapping[str, Any]
    read: Callable[[Answer], T]
    is_idempotent: bool = False
    waits_ms: int = 0


def given(value: T | None) -> T | Unset:
    """`value`, or what the generated operations take for "not said"."""
    return UNSET if value is None else value


def nothing(_answer: Answer) -> None:
    """The result of a call whose answer says no more than that it succeeded."""


def member(name: str) -> Callable[[Answer], Any]:
    """The reader of one member of an answer's object."""

    def read(answer: Answer) -> Any:
        return answer.json()[name]

    return read
