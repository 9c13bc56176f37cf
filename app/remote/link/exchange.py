"""Exchanges: commands on their way to a node, and their replies on the way back.

An exchange owns the future of its caller, or the taker in its place, which gets the outcome at once. If a
reply calls for another try, the exchange passes itself to its `retry` function. It restores names in error
lines, where the reader of replies replaced bytes that are not UTF-8. It never chooses a node and never
touches a socket.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, Final, TypeAlias, cast

import hiredis

from tailrace.app.remote.link.port import EngineError, LinkDown, Resp, Words

Take: TypeAlias = "Callable[[list[Resp | EngineError] | EngineError | LinkDown], None]"
"""Gets the replies in order, or why there are none."""


class Taker:
    """Takes the place of the future of an exchange with these commands; it cannot be cancelled."""

    __slots__ = ("_commands", "_is_done", "_take")

    def __init__(self, commands: Sequence[Words], take: Take) -> None:
        self._commands = commands
        self._take = take
        self._is_done = False

    def done(self) -> bool:
        """Whether the outcome was taken."""
        return self._is_done

    def cancelled(self) -> bool:
        """Return False."""
        return False

    def set_result(self, result: Any) -> None:
        """Take the reply to one command, or the list of replies to several."""
        replies = [result] if len(self._commands) == 1 else result
        self._call([exact(each, self._commands) if type(each) is EngineError else each for each in replies])

    def set_exception(self, error: EngineError | LinkDown) -> None:
        """Take the reason why there is no reply."""
        self._call(exact(error, self._commands) if isinstance(error, EngineError) else error)

    def _call(self, outcome: list[Resp | EngineError] | EngineError | LinkDown) -> None:
        self._is_done = True
        try:
            self._take(outcome)
        except Exception as error:  # noqa: BLE001 - a defect must not end the connection of the others
            asyncio.get_running_loop().call_exception_handler(
                {"message": "an answer of the engine could not be passed on", "exception": error}
            )


_REPLACED: Final = "\ufffd".encode()
_LINE_ENDS: Final = bytes.maketrans(b"\r\n", b"  ")
"""Redis writes spaces for the line ends of a name in an error line."""


def exact(error: EngineError, commands: Sequence[Words]) -> EngineError:
    """Return the error with the names as the engine sent them: they come from the words of the commands."""
    line = error.line
    if _REPLACED not in line:
        return error
    for word in {word for words in commands for word in words}:
        sent = word.translate(_LINE_ENDS)
        shown = sent.decode("utf-8", "replace").encode()
        if shown != sent:
            line = line.replace(shown, sent)
    return EngineError(line)


RETRIED: Final = frozenset(
    {b"MOVED", b"ASK", b"TRYAGAIN", b"CLUSTERDOWN", b"LOADING", b"MASTERDOWN", b"READONLY"}
)
"""Codes of errors that mean "not executed, but later or elsewhere it may be"."""

_pack: Final = cast("Callable[[tuple[bytes, ...]], bytes]", hiredis.pack_command)


def packed(words: Words) -> bytes:
    """Return a command in RESP."""
    return _pack(tuple(words))


ASKING: Final = packed([b"ASKING"])
MULTI: Final = packed([b"MULTI"])
EXEC: Final = packed([b"EXEC"])


class Way(Enum):
    """Which of a node's connections carries a command."""

    PLAIN = "plain"
    CONFIRMED = "confirmed"
    """Writes that replicas must confirm; WAIT blocks this connection only."""
    EVENTUAL = "eventual"
    """Reads from a replica."""
    TRACKING = "tracking"
    """Reads of waiting readers; RESP3 with client tracking."""
    WAKES = "wakes"
    """Messages of other gateways; RESP3, so that they come as pushes."""


Outcome: TypeAlias = "asyncio.Future[Any] | Taker"
"""Who gets the outcome of an exchange: a caller that awaits it, or a function."""

Failure: TypeAlias = EngineError | LinkDown
"""Why an exchange is tried again: an error of `RETRIED`, or a connection that did not execute it."""

Retry: TypeAlias = "Callable[[Any, Failure], None]"


def is_retried(reply: object) -> bool:
    """Return whether a reply is an error of `RETRIED`."""
    return type(reply) is EngineError and reply.code in RETRIED


class Exchange:
    """One command, or the base of several ones that are sent together.

    `slot`: None for a command without a key. `address`: the only node that may get it, or None. `channel`:
    where it was sent last. `asking`: the next try is for a node that imports the slot. `tries`: failures so
    far. `until`: when the last try may begin; 0 before the first failure. `wants`: how many replies the
    payload gets. `size`: its bytes, about.
    """

    __slots__ = (
        "address", "asking", "channel", "future", "is_write", "min_replicas", "packed", "retry", "size",
        "slot", "tries", "until", "wants", "way",
    )  # fmt: skip

    def __init__(
        self,
        packed: bytes | Sequence[bytes],
        *,
        slot: int | None,
        is_write: bool,
        retry: Retry,
        future: Outcome,
        way: Way = Way.PLAIN,
    ) -> None:
        self.packed: Any = packed
        self.size = len(packed) if isinstance(packed, bytes) else sum(map(len, packed))
        self.slot = slot
        self.is_write = is_write
        self.retry = retry
        self.future = future
        self.way = way
        self.min_replicas = 0
        self.channel: Any = None
        self.address: str | None = None
        self.asking = False
        self.tries = 0
        self.until = 0.0
        self.wants = 1

    def payload(self) -> bytes:
        """Return the bytes of the next try, and set `wants`."""
        if self.asking:
            self.wants = 2
            return ASKING + self.packed  # type: ignore[no-any-return]
        self.wants = 1
        return self.packed  # type: ignore[no-any-return]

    def done(self, reply: Any) -> None:
        """Take the reply; a list of replies if `wants` is more than one."""
        if self.wants > 1:
            reply = reply[-1]
        if type(reply) is EngineError and reply.code in RETRIED:
            self.retry(self, reply)
        elif not self.future.done():
            self.future.set_result(reply)

    def wrote(self, reply: Any) -> bool:
        """Return whether such a reply means that something may have been written."""
        return type(reply[-1] if self.wants > 1 else reply) is not EngineError

    def lost(self, reason: str) -> None:
        """The connection was lost after the payload was written to it."""
        if self.is_write:
            self.fail(LinkDown(reason, outcome_unknown=True))
        else:
            self.retry(self, LinkDown(reason, outcome_unknown=False))

    def unsent(self, reason: str) -> None:
        """The payload was never written to a connection."""
        self.retry(self, LinkDown(reason, outcome_unknown=False))

    def fail(self, error: Failure) -> None:
        """End the exchange with an error."""
        if not self.future.done():
            self.future.set_exception(error)


class TogetherExchange(Exchange):
    """Several commands, contiguous but not atomic. Another try has only those that were refused."""

    __slots__ = ("results", "todo")

    def __init__(self, packed: Sequence[bytes], **rest: Any) -> None:
        super().__init__(packed, **rest)
        self.results: list[Any] = [None] * len(packed)
        self.todo = list(range(len(packed)))

    def payload(self) -> bytes:
        """Return the bytes of the next try, and set `wants`."""
        between = ASKING if self.asking else b""
        self.wants = len(self.todo) * (2 if self.asking else 1)
        return between + between.join([self.packed[index] for index in self.todo])

    def done(self, reply: Any) -> None:
        """Take the replies."""
        left: list[int] = []
        first: EngineError | None = None
        for index, each in zip(self.todo, self._replies(reply), strict=True):
            self.results[index] = each
            if is_retried(each):
                first = first or each
                left.append(index)
        self.todo = left
        if first is not None:
            self.retry(self, first)
        elif not self.future.done():
            self.future.set_result(self.results)

    def wrote(self, reply: Any) -> bool:
        """Return whether such replies mean that something may have been written."""
        return any(type(each) is not EngineError for each in self._replies(reply))

    def _replies(self, reply: Any) -> list[Any]:
        replies = reply if self.wants > 1 else [reply]
        return replies[1::2] if self.asking else replies


class AtomicExchange(Exchange):
    """Several commands between MULTI and EXEC. Either all run or none does, so another try has all of
    them."""

    __slots__ = ()

    def payload(self) -> bytes:
        """Return the bytes of the next try, and set `wants`."""
        before = [ASKING, MULTI] if self.asking else [MULTI]
        parts = [*before, *self.packed, EXEC]
        self.wants = len(parts)
        return b"".join(parts)

    def done(self, reply: Any) -> None:
        """Take the replies."""
        executed = reply[-1]
        if type(executed) is not EngineError:
            if not self.future.done():
                self.future.set_result(executed)
            return
        errors = [each for each in reply if type(each) is EngineError]
        again = next((each for each in errors if is_retried(each)), None)
        if again is not None:
            self.retry(self, again)
        else:
            self.fail(errors[0])

    def wrote(self, reply: Any) -> bool:
        """Return whether such replies mean that something may have been written."""
        return type(reply[-1]) is not EngineError
