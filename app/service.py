"""The single writer: the one object through which anything reaches the engine, one command at a time.

It gives the engine the time and hands back the reply. There is no lock, because nothing here awaits
between the first look at the keyspace and the last change to it: one event loop, one writer. It
never decides what a command does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from api.ports import NotAccepting
from app.clock import Clock, system_clock_ms
from core.commands import Command, ExpireIdempotencyKeys
from core.engine import Engine
from core.errors import StreamError
from core.replies import Reply

_DRAINING: Final = "the server is shutting down"
_RETRY_AFTER_DRAINING_S: Final = 1


class EngineStore:
    """`api.ports.StreamStore` over one engine in this process. Use it from one event loop only."""

    def __init__(self, engine: Engine, clock: Clock = system_clock_ms) -> None:
        self._engine = engine
        self._clock = clock
        self._not_ready_reason: str | None = None

    @property
    def not_ready_reason(self) -> str | None:
        """Why no command is taken, or None where they are."""
        return self._not_ready_reason

    async def execute(self, command: Command) -> Reply:
        """Carry out one command at the present time.

        A read that asks to block is answered at once with what there is. Raises `StreamError` where
        the command is refused, `NotAccepting` once the store drains; nothing was changed then.
        """
        self._require_accepting()
        return self._engine.execute(command, self._clock()).reply

    async def execute_all(self, commands: Sequence[Command]) -> Sequence[Reply | StreamError]:
        """Carry out `commands` at one instant with nothing between them; a refused one stops none."""
        self._require_accepting()
        replies, _ = self._engine.execute_all(commands, self._clock())
        return replies

    def drain(self) -> None:
        """Take no more commands from now on: the server is about to end. Commands done stay done."""
        self._not_ready_reason = _DRAINING

    def tick(self) -> None:
        """What is due once a second: forget idempotency keys that are too old."""
        self._engine.execute(ExpireIdempotencyKeys(), self._clock())

    def _require_accepting(self) -> None:
        if self._not_ready_reason is not None:
            raise NotAccepting(self._not_ready_reason, retry_after_s=_RETRY_AFTER_DRAINING_S)
