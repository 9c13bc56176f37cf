"""What the HTTP surface needs of the world, and nothing of how it is done.

`app` implements these; tests may too. A store answers commands of `core.commands` with replies of
`core.replies`, or raises `StreamError`, or `StoreUnavailable` where nothing is wrong with the request.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol, TypeAlias, get_args

from msgspec import Struct

from tailrace.core.bounds.reply_room import ReplyRoom
from tailrace.core.commands import Access, Command, Read, ReadGroup
from tailrace.core.errors import StreamError
from tailrace.core.glob import Glob, compile_glob
from tailrace.core.replies import Reply


class StoreUnavailable(Exception):
    """The store takes no such command now; the text says why.

    `retry_after_s`: when to try again, None where a restart is needed first. `is_outcome_unknown`: the
    command was carried out, and it could not be made sure that it lasts; else nothing was changed.
    """

    def __init__(
        self, reason: str, *, retry_after_s: int | None = None, is_outcome_unknown: bool = False
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after_s = retry_after_s
        self.is_outcome_unknown = is_outcome_unknown


Answer: TypeAlias = Reply | StreamError | StoreUnavailable
"""What becomes of a command: its reply, or why there is none."""


class Watch(Protocol):
    """A read that was given to `StreamStore.watch`."""

    def cancel(self) -> bool:
        """Stop waiting. True: nothing was taken, and `receive` is never called.

        False: the answer was taken already; `receive` was called, or will be once it is durable.
        """
        ...


class StreamStore(Protocol):
    """Streams by name. Commands take effect one after another, in the order in which they arrive."""

    async def execute(self, command: Command) -> Reply:
        """Carry out one command. A read that blocks waits here; cancelling it takes nothing.

        Raises `StreamError` where the command is refused, `StoreUnavailable` where the store is closed.
        """
        ...

    async def execute_all(self, commands: Sequence[Command]) -> Sequence[Reply | StreamError]:
        """Carry out `commands` with nothing between them, at one instant; a refused one stops none.

        Reads do not block. Raises `StoreUnavailable`, or `StreamError` REPLY_TOO_LARGE if the replies
        together are certain not to fit; then nothing was done.
        """
        ...

    def watch(self, command: Read | ReadGroup, receive: Callable[[Answer], None]) -> Watch:
        """Run a read, and hand its answer to `receive`: once, on the event loop, after this returns.

        With `block_ms` it waits for data, for something to claim, for its timeout (the answer is then a
        reply without entries), or until what it reads is gone. No task is spent on the waiting.
        """
        ...

    @property
    def not_ready_reason(self) -> str | None:
        """Why the store takes no writes, or None where it does."""
        ...


class TurnStore(StreamStore, Protocol):
    """A store that carries out long lists of commands in turns, and serves other requests in between."""

    async def execute_each(
        self, commands: Sequence[Command], room: ReplyRoom, take: Callable[[Answer], Awaitable[None]]
    ) -> None:
        """Carry out `commands` one after another, and hand each answer to `take`, in order. Other requests
        are served in between, and while `take` is awaited. `room`: what the replies together may take; a
        read whose reply does not fit is refused with REPLY_TOO_LARGE.

        Show the answers to a client only after this returns: then what they reveal is durable. Raises
        `StoreUnavailable` if nothing was done, or if the outcome is unknown. A store that closes meanwhile
        hands the refusal to `take` for each command that is left.
        """
        ...

    async def execute_turn(
        self, requests: Sequence[Sequence[Command]], rooms: Sequence[ReplyRoom]
    ) -> Sequence[Reply | StreamError]:
        """Carry out the commands of the first of `requests` with nothing between them, until their replies
        are enough for one turn: of one request at least. `rooms`: what the replies of each may take.

        Returns the replies to all commands that were carried out. Submit the other requests again.

        Reads do not block. Raises `StoreUnavailable`, and then nothing was done.
        """
        ...


class HotStore(Protocol):
    """What the hot requests need of a store."""

    def submit(self, command: Command, receive: Callable[[Answer], None]) -> None:
        """Carry out one command that does not block, and hand its answer to `receive`, once.

        The answer may come before this returns, or later from the event loop. No task is spent.
        """
        ...


class SlowOperation(Struct, frozen=True):
    """One operation that took the server long. `commands`: names of commands, keys and groups, and sizes,
    never a value; the first few of `command_count`. `operation`: of the HTTP route, or who else asked.

    `engine_ms`: the engine's part; `commit_ms`: the disk's; `other_ms`: parsing, waiting for its turn,
    and writing the answer.
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
    """The last slow operations. `threshold_ms`: what counts as slow; 0 everything, -1 nothing."""

    @property
    def threshold_ms(self) -> int:
        """From how long on an operation is noted."""
        ...

    @property
    def capacity(self) -> int:
        """How many are kept."""
        ...

    def latest(self, limit: int) -> Sequence[SlowOperation]:
        """Up to `limit` of them, the newest first."""
        ...

    def clear(self) -> None:
        """Forget all."""
        ...


class NoSlowLog:
    """Where nothing is noted."""

    threshold_ms = -1
    capacity = 0

    def latest(self, limit: int) -> Sequence[SlowOperation]:
        """None."""
        del limit
        return ()

    def clear(self) -> None:
        """There is nothing to forget."""


# --- who asks ----------------------------------------------------------------------------------------

TokenScope: TypeAlias = Access
"""A kind of access that a token allows."""

SCOPES: Final[frozenset[TokenScope]] = frozenset(get_args(Access))
"""What a token may allow. None of them implies another."""

ALL_KEYS: Final = b"*"
"""The pattern that allows what concerns the whole keyspace, too."""


@dataclass(frozen=True)
class Principal:
    """Who asks, and what they may. The object stands for one state of one token: another state is another.

    `key_patterns` are globs over keys, as in KEYS. `expires_at_ms`: Unix time, None for never.
    """

    token_id: str
    name: str
    scopes: frozenset[TokenScope]
    key_patterns: tuple[bytes, ...]
    expires_at_ms: int | None = None
    reaches_all_keys: bool = field(init=False, repr=False, compare=False)
    """Whether what concerns the whole keyspace is allowed."""
    _globs: tuple[Glob, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "reaches_all_keys", ALL_KEYS in self.key_patterns)
        object.__setattr__(self, "_globs", tuple(compile_glob(glob) for glob in self.key_patterns))

    def may(self, scope: TokenScope, key: bytes) -> bool:
        """Whether `scope` is allowed on `key`. O(patterns)."""
        if scope not in self.scopes:
            return False
        return self.reaches_all_keys or any(glob.matches(key) for glob in self._globs)


NOBODY: Final = Principal("", "nobody", frozenset(), ())
"""Who asks for what is open to all, and is not asked who it is."""

OPEN_PATHS: Final = frozenset({"/", "/docs", "/openapi.json", "/healthz", "/readyz"})
"""What is answered to everybody: the page that explains, and whether the server is there."""

OPEN_FOLDERS: Final = ("/problems/",)
"""Paths below these are answered to everybody, too: what a problem means is no secret."""


def is_open(path: str) -> bool:
    """Whether `path`, as it was sent, is answered to everybody."""
    return path in OPEN_PATHS or path.startswith(OPEN_FOLDERS)


ANONYMOUS_LOCAL: Final = Principal("local", "anonymous", SCOPES, (ALL_KEYS,))
"""Everybody, where no tokens are configured: then only loopback is served."""


class Unauthenticated(Exception):
    """Nobody known asks, or no longer; the text says why, and holds nothing of a token.

    `is_given`: something was shown, and it is not good. `is_changed`: the token stands, with other rights;
    who comes back with it has those.
    """

    def __init__(self, reason: str, *, is_given: bool = True, is_changed: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_given = is_given
        self.is_changed = is_changed


class Authenticator(Protocol):
    """Knows tokens."""

    def authenticate(self, authorization: bytes | None) -> Principal:
        """Who sent this `Authorization` header. Raises `Unauthenticated`. Cheap: asked at every request."""
        ...

    def require_standing(self, principal: Principal) -> None:
        """Raises `Unauthenticated` where the token has been revoked or changed, or has expired, since."""
        ...

    def watch(self, principal: Principal, on_end: Callable[[Unauthenticated], None]) -> Callable[[], None]:
        """Have `on_end` called, once, on the event loop, when `principal` stands no more.

        The function that is given back ends the watch; it may be called after `on_end`, too.
        """
        ...


class Act(NamedTuple):
    """An administrative act, for the record. `keys` empty: it concerned no stream, or all of them."""

    principal: Principal
    operation: str
    keys: Sequence[bytes]
    outcome: str
    request_id: str | None


Audit: TypeAlias = Callable[[Act], None]
"""Writes an act down."""
