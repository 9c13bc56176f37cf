"""The state of a producer's newest batch: the only entry of a stream, replaced by compare and set.

    begun    a run of the query stages chunks. Its id is the token of the run
    chosen   the manifest: which chunks the batch consists of
    done     all of them are in their streams

This module stores and replaces the state. `commit` decides what replaces what.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from tailrace_client import Tailrace, TailraceError
from tailrace_client.stream_calls import Trim
from tailrace_spark.sink.sender import Encoding, Sender, Shape

BEGUN: Final = "begun"
CHOSEN: Final = "chosen"
DONE: Final = "done"
NO_ENTRY: Final = "0-0"
ITS_COMMIT: Final = "its commit"


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of a query. `query`: the id of the streaming query, empty outside one. `run`: a name that
    differs in every attempt to write the batch."""

    producer_id: str
    number: int
    query: str
    run: str


class State(NamedTuple):
    """The state of a producer's newest batch. `id`: of the entry that contains it. The other attributes are
    its fields, as text."""

    id: str = NO_ENTRY
    state: str = DONE
    batch: str = "-1"
    run: str = ""
    query: str = ""
    shape: Shape = "fields"
    encoding: Encoding = "zstd"
    chunks: str = "[]"
    rows: str = "0"
    dead_letters: str = "0"

    @property
    def number(self) -> int:
        """Return the number of the batch."""
        return int(self.batch)

    def fields(self) -> dict[str, str]:
        """Return the fields of the entry."""
        return {name: value for name, value in self._asdict().items() if name != "id"}


def _state_of(entry_id: str, fields: Mapping[str, str]) -> State:
    return State(entry_id, **{name: fields[name] for name in State._fields if name in fields})  # type: ignore[arg-type]


class StateStream:
    """The stream that contains the state."""

    def __init__(self, name: str, sender: Sender) -> None:
        self._name = name
        self._sender = sender

    def read(self) -> State:
        """Return the state; that of a batch before all others if there is none yet."""

        def last(client: Tailrace) -> State:
            entries = client.stream(self._name).last()
            return _state_of(*entries[0]) if entries else State()

        return self._sender.repeat(self._name, ITS_COMMIT, last)

    def replace(self, before: State, after: State) -> str | None:
        """Replace the state, and return the id of the new entry; None if `before` is not the state any more.

        After a lost response this may return None although it replaced the state: read it then.
        """

        def replaced(client: Tailrace) -> str | None:
            try:
                return client.stream(self._name).append(
                    after.fields(), if_last_id=before.id, trim=Trim(max_length=1)
                )
            except TailraceError as error:
                if error.code == "PRECONDITION_FAILED":
                    return None
                raise

        return self._sender.repeat(self._name, ITS_COMMIT, replaced)


Id: TypeAlias = tuple[int, int]
"""An entry id as numbers, in the order of the ids."""


def parsed(entry_id: str) -> Id:
    """Return a complete id as numbers."""
    time_ms, _, number = entry_id.partition("-")
    return int(time_ms), int(number)
