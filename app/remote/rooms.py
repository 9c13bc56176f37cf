"""The limit that the replies of one request share, counted after the engine has answered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tailrace.api.ports import Answer
from tailrace.core.bounds.reply_room import ReplyRoom
from tailrace.core.commands import Command, ReadGroup
from tailrace.core.errors import StreamError, kept
from tailrace.core.replies import ClaimReply, RangeReply, ReadReply


def charged(room: ReplyRoom, answer: Answer) -> Answer:
    """Return the answer, or REPLY_TOO_LARGE if the room has no place for its entries. O(entries).

    The command was run in both cases.
    """
    try:
        if isinstance(answer, RangeReply | ClaimReply):
            room.charge_entries(answer.entries.fragments)
        elif isinstance(answer, ReadReply):
            for read in answer.streams:
                room.charge_entries(read.entries.fragments)
    except StreamError as refusal:
        return kept(refusal)
    return answer


async def fitted(
    room: ReplyRoom,
    command: Command,
    answer: Answer,
    take_back: Callable[[ReadGroup, ReadReply], Awaitable[None]],
) -> Answer:
    """Return the answer as `charged` does. The new entries of a group's read without room go back to the
    group first; under NOACK they cannot, so that such a reply is answered in full and takes all the room."""
    shown = charged(room, answer)
    if shown is answer or not isinstance(command, ReadGroup) or not isinstance(answer, ReadReply):
        return shown
    if command.noack:
        room.left_bytes = 0
        return answer
    await take_back(command, answer)
    return shown
