"""Commands in Redis's words: which of them the table serves, and the answers to their replies.

The operation `command` has no command of its own: each request names one, which needs its own scope and
writes its own reply. The documented route serves the commands that need no engine or `admin`, `SCAN`, and
those whose replies may be long: it writes these in slices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tailrace.api.operations.queries import NotPlain
from tailrace.api.wire.redis_words import decode_command, result_parts, waiting_at_most
from tailrace.core import commands as c
from tailrace.core.grammar import Request as RedisRequest
from tailrace.core.limits import TURN_REPLY_BYTES_MAX, WAIT_MS_MAX
from tailrace.core.log.entry_json import Shape
from tailrace.core.parser import parse_request
from tailrace.core.replies import RangeReply, ReadReply, Reply

COUNT_MAX: Final = 100
"""The most entries of a reply that is written at once."""

_SHORT: Final = (
    c.Append,
    c.Acknowledge,
    c.AcknowledgeAndDelete,
    c.NegativeAcknowledge,
    c.StreamLength,
)
"""Commands whose replies have at most one item for each id in the command."""


def words_request(raw: bytes) -> RedisRequest:
    """Return the request in a body, which has a command.

    Raises `RequestRefused`, `StreamError` with the error line of Redis, and `NotPlain`.
    """
    found = parse_request(decode_command(raw))
    command = found.command
    if command is None or found.access == "admin" or not _is_short(command):
        raise NotPlain
    return RedisRequest(found.name, found.access, waiting_at_most(command, WAIT_MS_MAX), found.to_resp)


def _is_short(command: c.Command) -> bool:
    """Return whether the reply is written at once. `words_answer` may still find that it is too long, unless
    the command has delivered entries."""
    if isinstance(command, _SHORT):
        return True
    if isinstance(command, c.Range | c.AutoClaim):
        return command.count is not None and command.count <= COUNT_MAX
    if isinstance(command, c.Read | c.ReadGroup):
        count = command.limits.count
        return count is not None and 0 < count * len(command.streams) <= COUNT_MAX
    return False


def words_answer(reply: Reply, request: RedisRequest, _names: Sequence[bytes], _shape: Shape) -> bytes | None:
    """Return the answer with the reply in RESP2; None if the documented route must write it, in slices: it
    reads the entries again, which changes nothing."""
    if isinstance(request.command, c.Range | c.Read) and _bytes_of(reply) > TURN_REPLY_BYTES_MAX:
        return None
    return b"".join((b'{"result":', *result_parts(request.to_resp(reply), all_base64=False), b"}"))


def _bytes_of(reply: Reply) -> int:
    if isinstance(reply, RangeReply):
        return sum(map(len, filter(None, reply.entries.fragments)))
    assert isinstance(reply, ReadReply)
    return sum(len(fragment) for read in reply.streams for fragment in read.entries.fragments if fragment)
