"""A request together with the function that reads its response, independent of the client that sends it.

The blocking and the asyncio client share all calls. The request comes from the generated operation, so that
paths, parameters and bodies have one source, the published document. This module owns the form of a call;
`stream_calls` and `group_calls` create calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from tailrace_client.generated.types import UNSET, Unset
from tailrace_client.record import Record

T = TypeVar("T")
R = TypeVar("R", bound=Record)


class Answer(Protocol):
    """The members of a response that calls read. `httpx.Response` has them."""

    @property
    def status_code(self) -> int:
        """The HTTP status."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers by name, in any case."""
        ...

    @property
    def content(self) -> bytes:
        """The body."""
        ...

    def json(self) -> Any:
        """Return the body, parsed as JSON."""
        ...


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One request and the reader of its response.

    `request`: the arguments of `httpx.Client.request`. `read`: returns the result from a successful response.
    `is_idempotent`: whether sending the request again has no further effect. `waits_ms`: how long the server
    may delay the response on purpose. `repeated`: the result after a lost response, if that of the repetition
    says nothing.
    """

    request: Mapping[str, Any]
    read: Callable[[Answer], T]
    is_idempotent: bool = False
    waits_ms: int = 0
    repeated: T | None = None


def given(value: T | None) -> T | Unset:
    """Return `value`; for None, the marker with which the generated operations omit a parameter."""
    return UNSET if value is None else value


def nothing(_answer: Answer) -> None:
    """Return None, for a call whose response says only that it succeeded."""


def member(name: str) -> Callable[[Answer], Any]:
    """Return a function that reads one member of the response's JSON object."""

    def read(answer: Answer) -> Any:
        return answer.json()[name]

    return read


def record(type_: type[R]) -> Callable[[Answer], R]:
    """Return a function that reads the response as a record."""
    return lambda answer: type_.from_dict(answer.json())


def records(type_: type[R], name: str) -> Callable[[Answer], list[R]]:
    """Return a function that reads one member of the response as a list of records."""
    return lambda answer: [type_.from_dict(each) for each in answer.json()[name]]
