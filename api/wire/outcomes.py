"""Writes the response of a pipeline or a transaction: one item for each command."""

from __future__ import annotations

from collections.abc import Sequence

from tailrace.api.ports import Answer, StoreUnavailable
from tailrace.api.wire.redis_words import outcome_parts
from tailrace.api.wire.turns import Slices
from tailrace.core.bounds.reply_room import ReplyRoom
from tailrace.core.errors import StreamError
from tailrace.core.grammar import Request, Resp


class Outcomes:
    """The items of a pipeline's or transaction's response.

    Each item is written as JSON at once, so that the replies are not kept in memory.
    """

    def __init__(self, parsed: Sequence[Request | StreamError], slices: Slices, *, all_base64: bool) -> None:
        self.room = ReplyRoom()
        self._slices = slices
        self._all_base64 = all_base64
        self._following = iter(parsed)
        self._parts: list[bytes] = []

    async def take(self, answer: Answer) -> None:
        """Add the answer to the next request that has a command."""
        request = await self._next_with_command()
        assert request is not None, "there is one answer for each command"
        await self._write(
            answer if isinstance(answer, StreamError | StoreUnavailable) else request.to_resp(answer)
        )

    async def parts(self) -> list[bytes]:
        """Return the JSON text of all items, with commas between them."""
        await self._next_with_command()
        return self._parts[:-1]

    async def _next_with_command(self) -> Request | None:
        """Return the next request that has a command for the store. The items before it are written."""
        for each in self._following:
            if isinstance(each, StreamError):
                await self._write(each)
            elif each.command is None:
                await self._write_literal(each.to_resp(None))
            else:
                return each
        return None

    async def _write_literal(self, literal: Resp) -> None:
        texts = literal if isinstance(literal, list) else [literal]
        try:
            self.room.charge_names([text for text in texts if isinstance(text, bytes)])
        except StreamError as error:
            await self._write(error)
        else:
            await self._write(literal)

    async def _write(self, outcome: Resp | StreamError | StoreUnavailable) -> None:
        self._parts += await self._slices.gather(outcome_parts(outcome, all_base64=self._all_base64))
        self._parts.append(b",")
