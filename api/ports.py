"""The interfaces that `api` needs: the store, the slow log, and the state of the process.

`app` implements them. A store answers commands of `core.commands` with replies of `core.replies`. It raises
`StreamError` if it refuses a command, and `StoreUnavailable` if it accepts no such command now.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

from msgspec import Struct

from tailrace.core.bounds.reply_room import ReplyRoom
from tailrace.core.commands import Command, Idempotency
from tailrace.core.errors import StreamError
from tailrace.core.replies import Reply


class StoreUnavailable(Exception):
    """The store does not accept the command now; `reason` explains why.

    `retry_after_s` is when to try again; None if the server must be restarted first. `is_outcome_unknown` is
    true if the command ran, but the store could not make its changes durable; otherwise nothing was changed.
    `code` is its `HttpCode`.
    """

    code: ClassVar[str] = "NOT_ACCEPTING"

    def __init__(
        self, reason: str, *, retry_after_s: int | None = None, is_outcome_unknown: bool = False
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after_s = retry_after_s
        self.is_outcome_unknown = is_outcome_unknown


class StoreFailed(StoreUnavailable):
    """The store failed while it ran the command, which is a defect of the server and is in its log. What the
    command has changed is unknown."""

    code: ClassVar[str] = "INTERNAL"

    def __init__(self, reason: str) -> None:
        super().__init__(reason, is_outcome_unknown=True)


Answer: TypeAlias = Reply | StreamError | StoreUnavailable
"""The result of a command: its reply, or the error."""


class Watch(Protocol):
    """A read of `SubmitStore.submit` that waits."""

    def cancel(self) -> bool:
        """Stop waiting. Return True if the read took no entries; then `receive` is not called.

        Return False if the answer already exists: `receive` was called, or will be when the answer is
        durable.
        """
        ...


BeginWait: TypeAlias = Callable[[Watch], None]
"""Gets how to stop a read that begins to wait."""


class StreamStore(Protocol):
    """A store of streams. Commands take effect one after another, in the order of the calls."""

    async def execute(self, command: Command) -> Reply:
        """Run one command. A blocking read waits here; if it is cancelled, it takes no entries.

        Raises `StreamError` if the command is refused, and `StoreUnavailable` if the store is closed.
        """
        ...

    async def execute_all(self, commands: Sequence[Command]) -> Sequence[Reply | StreamError]:
        """Run `commands` in one atomic step. If one of them is refused, the others still run.

        Reads do not block. A read whose reply does not fit is refused with REPLY_TOO_LARGE. Raises
        `StoreUnavailable`, or `StreamError` if the commands together take too much work; then no command was
        run.
        """
        ...

    @property
    def not_ready(self) -> StoreUnavailable | None:
        """Why the store accepts no writes, and when to try again; None if it accepts them."""
        ...


class SubmitStore(Protocol):
    """A store that runs commands without a task."""

    def submit(
        self, command: Command, receive: Callable[[Any], None], wait: BeginWait | None = None
    ) -> Answer:
        """Run one command, and call `receive` once with its answer.

        The call can happen before this method returns, or later on the event loop. No task is needed.

        A read with `block_ms` needs `wait`. If there is nothing to read, the read waits for new entries, for
        entries to claim, until its timeout (the answer is then a reply without entries), or until its stream
        or group is deleted; `wait` is called first, at any time, with how to stop it.

        Return the answer that `receive` gets unless the storage fails. It may be shown only after that call.
        Return None if the answer is not known yet.
        """
        ...


class TurnStore(StreamStore, SubmitStore, Protocol):
    """A store that runs long lists of commands in turns, and serves other requests in between."""

    async def execute_each(
        self, commands: Sequence[Command], room: ReplyRoom, take: Callable[[Answer], Awaitable[None]]
    ) -> None:
        """Run `commands` one after another, and pass each answer to `take`, in order.

        Other requests are served in between, and while `take` is awaited. `room` limits the replies
        together; a read whose reply does not fit is refused with REPLY_TOO_LARGE.

        Send the answers to a client only after this call returns, because only then all changes that they
        show are durable. Raises `StoreUnavailable` if no command was run, or if the outcome is unknown. If
        the store closes in between, `take` receives the error for each remaining command.
        """
        ...

    async def execute_turn(
        self, requests: Sequence[Sequence[Command]], rooms: Sequence[ReplyRoom]
    ) -> Sequence[Reply | StreamError]:
        """Run the commands of the first `requests` in one atomic step, until their replies fill one turn.

        At least one request is run. `rooms` limits the replies of each request. Reads do not block. Return
        the replies to all commands that were run; submit the other requests again. Raises
        `StoreUnavailable` if no command was run.
        """
        ...


class JoinedReceiver(Protocol):
    """The owner of requests whose appends run together. `requests`: those of one run, as given to `take`."""

    def receive(self, requests: Sequence[Any], answer: Answer | Exception) -> None:
        """Get the answer to a run: an `AppendReply` with one id for each request, or an error for all of
        them, which may be the exception of a defect."""
        ...

    def wait_began(self, requests: Sequence[Any]) -> None:
        """Note that the engine has run the appends, and that their answer waits for the disk."""
        ...


class Joining(Protocol):
    """Runs the appends of one turn of the event loop together, those to one stream as one command, if only an
    idempotency key can refuse one of them."""

    def begin(self, receiver: JoinedReceiver) -> None:
        """Let appends wait for each other. `end` must follow in the same turn of the loop."""
        ...

    def take(
        self, key: bytes, fragment: bytes, request: object, idempotency: Idempotency | None = None
    ) -> bool:
        """Let the append of one entry to `key` wait for others, and return True. It runs by `end` at the
        latest, and before any command that `HotStore.submit` gets.

        Return False if it may not wait: the appends that wait have run, and it must be submitted. O(1).
        """
        ...

    def end(self) -> None:
        """Run the appends that wait."""
        ...


class HotStore(SubmitStore, Protocol):
    """What hot requests need of a store: appends that run together."""

    @property
    def joining(self) -> Joining | None:
        """Where appends wait for each other; None if they never do."""
        ...


class EngineFeature(Struct, frozen=True):
    """A feature of streams on the engine behind the store.

    `support`: "native" if the engine has it, "emulated" if the server does it with what the engine has, and
    "refused" if requests for it are answered with 501. `note`: what that means, or what the engine would
    need.
    """

    name: str
    support: Literal["native", "emulated", "refused"]
    note: str


def no_engine_warnings() -> Sequence[str]:
    """Return the warnings of a server with its own storage: none."""
    return ()


def no_engine_features() -> Sequence[EngineFeature]:
    """Return nothing: the store has its own storage."""
    return ()


class SlowOperation(Struct, frozen=True):
    """A slow operation.

    `operation` is the id of the HTTP operation, or another source such as `websocket`. `commands` are the
    first of
    `command_count` commands, with the names of commands, keys and groups, and sizes, but without values.
    `engine_ms` is the time in the engine, `commit_ms` that of the disk, and `other_ms` that of parsing,
    queueing and writing the response. `at_ms` is the end of the operation in Unix milliseconds.
    """

    id: int
    at_ms: int
    operation: str
    request_id: str | None
    engine_ms: float
    commit_ms: float
    other_ms: float
    command_count: int
    commands: Sequence[Mapping[str, object]]


class SlowLog(Protocol):
    """The most recent slow operations."""

    @property
    def threshold_ms(self) -> int:
        """Milliseconds from which on an operation is recorded; 0 records all operations, -1 none."""
        ...

    @property
    def capacity(self) -> int:
        """How many operations the log keeps."""
        ...

    def latest(self, limit: int) -> Sequence[SlowOperation]:
        """Return up to `limit` operations, newest first."""
        ...

    def clear(self) -> None:
        """Remove all operations."""
        ...


class ServerReport(Protocol):
    """What the process knows of itself, for `GET /v1/server`."""

    async def report(self, limit: int) -> Mapping[str, object]:
        """Return the members of `api.schemas.server.ServerState`, except those that `api` itself knows.

        `limit`: how many streams and audit lines to return at most. O(streams + groups) in slices.
        """
        ...


class NoServerReport:
    """The report of an application that no process of `app` runs: it measures nothing."""

    async def report(self, limit: int) -> Mapping[str, object]:
        """Return that nothing is known."""
        del limit
        return {
            "started_at_ms": None,
            "store": "memory",
            "durability": None,
            "nodes": [],
            "memory": None,
            "connections": None,
            "storage": None,
            "contents": None,
            "largest_streams": [],
            "audit": {"capacity": 0, "acts": []},
        }


class NoSlowLog:
    """A slow log that records nothing."""

    threshold_ms = -1
    capacity = 0

    def latest(self, limit: int) -> Sequence[SlowOperation]:
        """Return no operations."""
        del limit
        return ()

    def clear(self) -> None:
        """Do nothing."""
