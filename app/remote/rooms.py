"""The limit that the replies of one request share, counted after the engine has answered."""

from __future__ import annotations

from tailrace.api.ports import Answer
from tailrace.core.bounds.reply_room import ReplyRoom
from tailrace.core.errors import StreamError, kept
from tailrace.core.replies import ClaimReply, RangeReply, ReadReply


def charged(room: ReplyRoom, answer: Answer) -> Answer:
    """Return the answer, or REPLY_TOO_LARGE if the room has no place for its entries. O(entries).

    The command was run in both cases: entries that a group delivered stay pending with their consumer.
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
