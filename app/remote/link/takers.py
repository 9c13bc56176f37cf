"""A taker: gets the outcome of an exchange at once, where a future would tell it on the next turn of the
loop.

It owns nothing but its function. An error of the function is reported to the loop, so the other exchanges
of the connection get their replies.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from tailrace.app.remote.link.names import exact
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
