"""The table of operations: everything that the hot way and the documented route of an operation share.

It owns the rows. `api.routes` declares the documented routes with them, and `api.operations.requests`
recognises hot requests by them. What a token needs comes from `api.access.permissions`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from tailrace.api.access.permissions import scope_of
from tailrace.api.operations import appends, pending, reads, words
from tailrace.api.principals import TokenScope
from tailrace.api.wire.ndjson import LARGE_BYTES
from tailrace.api.wire.negotiation import JSON, NDJSON
from tailrace.api.wire.turns import AT_ONCE_BYTES_MAX
from tailrace.core.commands import Command
from tailrace.core.log.entry_json import Shape
from tailrace.core.replies import AppendReply, Reply, ScheduleReply

REPLAYED_STATUS: Final = 200
SCHEDULED_STATUS: Final = 202
REPLAYED_HEADERS: Final[Mapping[str, str]] = {"Idempotent-Replayed": "true"}
"""The status and the headers of an answer to an append that was made earlier under the same key."""

_NO_HEADERS: Final[Mapping[str, str]] = {}

AnswerOf = Callable[[Reply, Any, Sequence[bytes], Shape], bytes | None]


@dataclass(frozen=True)
class Operation:
    """One row of the table. Every answer is JSON.

    `name`: the operation's id in the OpenAPI document. `path`: its route, with names of parameters in braces.
    `media_type`: the type of the request's body; None for a GET, which has no body. `status`: the status of
    an answer without an error. `is_append`: the headers of a producer apply, and the reply has the status.

    `command_of`: returns the command, or a request in Redis's words, which has one. It takes the names in
    the path, then the plain query of a GET, or the body of a POST and for an append how to find its
    idempotency. Raises `RequestRefused`, and `NotPlain` for what only the documented route serves.
    `body_bytes_max`: a larger body goes to the documented route, which limits it while it arrives, and reads
    it in slices. `parameters`: the query parameters that a hot request may have, each once.

    `answer_of`: returns the body of the answer for the reply, what `command_of` returned, the names in the
    path and the form of entries. None: the documented route writes it, in slices. Raises `StreamError` or
    `RequestRefused` if the reply says that something is missing.
    """

    name: str
    path: str
    command_of: Callable[..., Any]
    answer_of: AnswerOf
    media_type: str | None = JSON
    status: int = 200
    is_append: bool = False
    body_bytes_max: int = LARGE_BYTES
    parameters: frozenset[str] = frozenset()

    @cached_property
    def method(self) -> bytes:
        """The method of its requests."""
        return b"GET" if self.media_type is None else b"POST"

    @cached_property
    def scope(self) -> TokenScope | None:
        """The scope that a token needs; None if it is that of the command in the body."""
        scope = scope_of(self.name)
        assert scope != "admin", "the hot way records no act in the audit log"
        return scope

    @cached_property
    def path_parts(self) -> Sequence[str]:
        """The parts of its requests' paths: a name is between one and the next."""
        return re.split(r"\{\w+\}", self.path)

    def head_of(self, reply: Reply) -> tuple[int, Mapping[str, str]]:
        """Return the status and the further headers of the answer to `reply`."""
        if not self.is_append:
            return self.status, _NO_HEADERS
        assert isinstance(reply, AppendReply | ScheduleReply)
        headers = REPLAYED_HEADERS if reply.replayed else _NO_HEADERS
        if isinstance(reply, ScheduleReply):
            return SCHEDULED_STATUS, headers
        return REPLAYED_STATUS if reply.replayed else self.status, headers


def _always(bytes_of: Callable[[Reply], bytes | None]) -> AnswerOf:
    """Return the function for answers that depend on the reply only."""
    return lambda reply, _command, _names, _shape: bytes_of(reply)


def _of_command(bytes_of: Callable[[Reply, Command], bytes | None]) -> AnswerOf:
    """Return the function for answers that depend on the reply and the command."""
    return lambda reply, command, _names, _shape: bytes_of(reply, command)


_STREAM: Final = "/v1/streams/{key}"
_GROUP: Final = "/v1/streams/{key}/groups/{group}"

# --- appends ---------------------------------------------------------------------------------------

XADD: Final = Operation(
    "xadd",
    f"{_STREAM}/entries",
    appends.xadd_command,
    _of_command(appends.xadd_answer),
    status=201,
    is_append=True,
    body_bytes_max=AT_ONCE_BYTES_MAX,
)
XADD_BATCH: Final = Operation(
    "xadd_batch",
    f"{_STREAM}/entries:batch",
    appends.batch_command,
    _of_command(appends.batch_answer),
    status=201,
    is_append=True,
    body_bytes_max=AT_ONCE_BYTES_MAX,
)
IMPORT_ENTRIES: Final = Operation(
    "import_entries",
    f"{_STREAM}/entries:import",
    appends.import_command,
    _of_command(appends.batch_answer),
    media_type=NDJSON,
    status=201,
    is_append=True,
)

# --- reads -----------------------------------------------------------------------------------------

XREAD: Final = Operation("xread", "/v1/read", reads.read_command, reads.read_answer)
XREADGROUP: Final = Operation(
    "xreadgroup", "/v1/read-group", reads.group_read_command, reads.group_read_answer
)
XRANGE: Final = Operation(
    "xrange",
    f"{_STREAM}/entries",
    reads.plain_range_command,
    reads.range_answer,
    media_type=None,
    parameters=frozenset({"start", "end", "order", "after", "wait_ms", "count", "strict"}),
)
GET_ENTRY: Final = Operation(
    "get_entry", f"{_STREAM}/entries/{{id}}", reads.plain_entry_command, reads.entry_answer, media_type=None
)
XLEN: Final = Operation(
    "xlen", f"{_STREAM}/length", reads.length_command, _always(reads.length_answer), media_type=None
)
XINFO_STREAM: Final = Operation(
    "xinfo_stream", _STREAM, reads.stream_command, _of_command(reads.stream_answer), media_type=None
)
XINFO_GROUP: Final = Operation(
    "xinfo_group", _GROUP, reads.group_command, reads.group_answer, media_type=None
)

# --- pending entries -------------------------------------------------------------------------------

XACK: Final = Operation("xack", f"{_GROUP}:ack", pending.ack_command, _of_command(pending.ack_answer))
XNACK: Final = Operation("xnack", f"{_GROUP}:nack", pending.nack_command, _always(pending.nack_answer))
XCLAIM: Final = Operation("xclaim", f"{_GROUP}:claim", pending.claim_command, pending.claim_answer)
XAUTOCLAIM: Final = Operation(
    "xautoclaim", f"{_GROUP}:autoclaim", pending.autoclaim_command, pending.autoclaim_answer
)
EXTEND: Final = Operation(
    "extend", f"{_GROUP}:extend", pending.extend_command, _always(pending.extend_answer)
)
XPENDING: Final = Operation(
    "xpending",
    f"{_GROUP}/pending",
    pending.plain_pending_command,
    _of_command(pending.pending_answer),
    media_type=None,
    parameters=frozenset({"start", "end", "count", "consumer", "min_idle_ms"}),
)
XPENDING_SUMMARY: Final = Operation(
    "xpending_summary",
    f"{_GROUP}/pending:summary",
    pending.summary_command,
    _always(pending.summary_answer),
    media_type=None,
)

# --- Redis's words ---------------------------------------------------------------------------------

COMMAND: Final = Operation(
    "command", "/v1/command", words.words_request, words.words_answer, body_bytes_max=AT_ONCE_BYTES_MAX
)

OPERATIONS: Final = (
    XADD,
    XADD_BATCH,
    IMPORT_ENTRIES,
    XREAD,
    XREADGROUP,
    XACK,
    XNACK,
    XCLAIM,
    XAUTOCLAIM,
    EXTEND,
    XRANGE,
    GET_ENTRY,
    XLEN,
    XINFO_STREAM,
    XINFO_GROUP,
    XPENDING,
    XPENDING_SUMMARY,
    COMMAND,
)
