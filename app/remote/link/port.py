"""The border between the link and the remote store: what the store may ask of an engine, and how it may fail.

Only types. Values have the shape of RESP2 whatever protocol a connection speaks: maps are flat lists, the
reply of XREAD is a list of `[key, entries]`, statuses and strings are bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

Words: TypeAlias = Sequence[bytes]
"""One command: its name and its arguments."""

Resp: TypeAlias = "int | bytes | list[Resp | EngineError] | None"
"""A reply. An error inside a list (EXEC, scripts) is an `EngineError`, not raised."""

Consistency: TypeAlias = Literal["strong", "eventual"]
"""`strong`: the master of the slot. `eventual`: a replica if one is connected; it may lag behind."""


class EngineError(Exception):
    """An error reply of the engine. `line`: the exact line as bytes, such as ``b"NOGROUP No such key
    ..."``."""

    def __init__(self, line: bytes) -> None:
        super().__init__(line)
        self.line = line

    def __str__(self) -> str:
        return self.line.decode("utf-8", "backslashreplace")

    @property
    def code(self) -> bytes:
        """The first word of the line, such as ``b"NOGROUP"``."""
        return self.line.partition(b" ")[0]


class LinkDown(Exception):
    """The engine gave no answer that counts. `reason` names the node, and never contains a password.

    `outcome_unknown` is False if the command was certainly not executed; then it may be sent again. It is
    True if the command was written to a connection that was lost, or if too few replicas confirmed a write.
    `retry_after_s`: when another try makes sense, in whole seconds.
    """

    def __init__(self, reason: str, *, outcome_unknown: bool, retry_after_s: int = 1) -> None:
        super().__init__(reason)
        self.reason = reason
        self.outcome_unknown = outcome_unknown
        self.retry_after_s = retry_after_s


class LinkRefused(LinkDown):
    """The engine refuses this link: the credentials, or the kind of the URL. Another try fails as well."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, outcome_unknown=False)


@dataclass(frozen=True)
class NodeState:
    """One node as the link sees it. `slots`: how many slots it serves; 0 outside a Cluster, and for a
    replica.

    `why_down`: why it cannot be used now, for a person; empty if `is_up`.
    """

    address: str
    role: Literal["master", "replica"]
    slots: int
    is_up: bool
    why_down: str = ""


class Armed(Protocol):
    """One waiter of a key: see `Link.arm`."""

    def cancel(self) -> None:
        """Stop waking: `wake` is not called after this returns. A second call does nothing."""
        ...


class Link(Protocol):
    """The engine: one node, one that Sentinel watches, or a Cluster. `min_replicas`: how many replicas must
    confirm a write by default.

    Calls on one key reach the engine in the order in which they were made, as long as they agree about
    `min_replicas` and `consistency`; with `min_replicas`, only writes keep their order among each other, and
    reads among each other. Pass no command that blocks (BLOCK, WAIT). A node that hangs makes its
    callers wait, never the callers of other nodes.
    """

    min_replicas: int

    async def call(
        self,
        words: Words,
        *,
        key: bytes | None,
        is_write: bool,
        min_replicas: int | None = None,
        consistency: Consistency = "strong",
    ) -> Resp:
        """Run one command on the node of `key` (None: any master) and return its reply.

        `min_replicas`: how many replicas must confirm a write; None means the default of the link. A write
        that too few replicas confirm in time raises `LinkDown` with `outcome_unknown`. MOVED, ASK, TRYAGAIN,
        CLUSTERDOWN, LOADING and refused connections are retried until a deadline. A write is never sent again
        after a lost connection. Raises `EngineError` or `LinkDown`.
        """
        ...

    async def call_together(
        self,
        commands: Sequence[Words],
        *,
        key: bytes | None,
        is_write: bool,
        atomic: bool = False,
        min_replicas: int | None = None,
        consistency: Consistency = "strong",
    ) -> list[Resp | EngineError]:
        """Run commands contiguously on one connection; return their replies and errors in order.

        `atomic` wraps them in MULTI and EXEC: all keys must be in the slot of `key`, and either all run or
        none does. Without it, a lost connection can leave a part of them executed. Raises `LinkDown`; with
        `atomic` also the `EngineError` that made EXEC refuse the transaction.
        """
        ...

    def submit(
        self,
        commands: Sequence[Words],
        take: Callable[[list[Resp | EngineError] | EngineError | LinkDown], None],
        *,
        key: bytes,
        is_write: bool,
        atomic: bool = False,
    ) -> bool:
        """Send commands as `call_together` does, with the defaults of the link, and without a task.

        `take` is called once on the event loop, never within this call, with the replies in order or with why
        there are none. Return False if the commands cannot be sent at once, because the node is busy or its
        replicas must be asked for first; then nothing was sent, and `take` is not called.
        """
        ...

    async def call_masters(self, words: Words, *, is_write: bool) -> list[Resp]:
        """Run one command on every master (DBSIZE, FLUSHALL, FUNCTION LOAD), in the order of `masters()`.

        Raises `EngineError` or `LinkDown` if one of them fails; the others may then have run.
        """
        ...

    async def call_node(self, address: str, words: Words, *, is_write: bool) -> Resp:
        """Run one command on the node with this address of `nodes()`, as SCAN needs it. It is not redirected.

        Raises `EngineError` or `LinkDown`; `LinkDown` also if the link knows no such node any longer.
        """
        ...

    def masters(self) -> Sequence[NodeState]:
        """Return all masters, in the order of their first slots."""
        ...

    def nodes(self) -> Sequence[NodeState]:
        """Return all nodes that the link knows, masters first."""
        ...

    @property
    def is_cluster(self) -> bool:
        """Whether keys have slots: a command on several keys then needs all of them in one slot."""
        ...

    def slot_of(self, key: bytes) -> int:
        """Return the slot of a key, also if the engine is no Cluster."""
        ...

    def master_of(self, key: bytes) -> str | None:
        """Return the address of the master that serves a key; None if no master is known for it."""
        ...

    def arm(self, key: bytes, wake: Callable[[], None]) -> Armed:
        """Call `wake` at least once after every change of `key` from now on; more calls are possible.

        Call this before the read is sent; a wake during a read counts. After each wake a waiter reads again
        by `read_armed`, and then waits again. `wake` runs on the event loop; it must not block and must not
        raise. It is also called every 5 to 10 seconds, and when the connection to the node is lost.
        """
        ...

    async def read_armed(
        self, commands: Sequence[Words], *, key: bytes, is_write: bool = False
    ) -> list[Resp | EngineError]:
        """Run reads of `key` on the tracking connection, which registers the key; return replies and errors.

        The commands are contiguous and follow an EXISTS of the key, so that XREADGROUP is watched too.
        `is_write` must be True for XREADGROUP: it is not sent again after a lost connection. Raises
        `LinkDown`.
        """
        ...

    def wake(self, key: bytes) -> None:
        """Wake the waiters of `key` in this process now, and those of other gateways soon.

        For changes that the engine's tracking does not report: XNACK, XCLAIM, XGROUP, XSETID. Call it after
        the reply of the command.
        """
        ...

    async def close(self) -> None:
        """Close all connections. Commands without an answer fail with `LinkDown`."""
        ...
