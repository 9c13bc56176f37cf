"""Error texts of refused commands over REST and WebSocket: one table, by error code.

A text says what is wrong, with names and values; what is allowed; and what to do. The engine's own error
lines are those of Redis; only clients that sent a Redis command see them. This module never decides what is
an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from tailrace.core.errors import ErrorCode, StreamError, printable

VERBS: Final = frozenset(
    {b"setid", b"configure", b"ack", b"nack", b"claim", b"autoclaim", b"takeover", b"redrive", b"extend"}
)
"""The actions that can follow the name of a stream or a group. With GET, they are part of the name."""

COMMAND_CODES: Final = frozenset(
    {ErrorCode.SYNTAX, ErrorCode.WRONG_ARITY, ErrorCode.UNKNOWN_COMMAND, ErrorCode.NOT_AN_INTEGER}
)
"""Codes of errors that only Redis commands can have; their texts are those of Redis."""


def rest_text(error: StreamError) -> str:
    """Return the `detail` of a refused command, in the terms of the REST API."""
    write = _TEXTS.get(error.code)
    return human_text(error) if write is None else write(error)


def human_text(error: StreamError) -> str:
    """Return the engine's error line without its first word, because the problem has a `code`."""
    word, _, rest = error.line.partition(" ")
    text = rest if word.isupper() and rest else error.line
    given = error.details.get("given")
    return text if given is None else f"{text}: {given!r}"


def quoted(name: bytes) -> str:
    """Return a name as error texts show it, in quotes; bytes that are not printable are escaped."""
    return f"'{printable(name)}'"


def _no_such_stream(error: StreamError) -> str:
    if "group" in error.names:
        return _no_group_without_stream(error)
    stream = quoted(error.names["key"])
    return (
        f"the stream {stream} does not exist; its first entry creates it, and so does PUT /v1/streams/{{key}}"
        f"{_verb_hint(error.names['key'])}"
    )


def _no_group(error: StreamError) -> str:
    if error.details["missing"] == "stream":
        return _no_group_without_stream(error)
    stream, group = quoted(error.names["key"]), quoted(error.names["group"])
    return (
        f"the stream {stream} has no consumer group {group}; "
        f"create it with PUT /v1/streams/{{key}}/groups/{{group}}{_verb_hint(error.names['group'])}"
    )


def _no_group_without_stream(error: StreamError) -> str:
    stream, group = quoted(error.names["key"]), quoted(error.names["group"])
    return (
        f"the stream {stream} does not exist, so it has no consumer group {group}; create both with "
        'PUT /v1/streams/{key}/groups/{group} and the body {"create_stream": true}'
    )


def _verb_hint(name: bytes) -> str:
    verb = name.rpartition(b":")[2]
    return f". `:{verb.decode()}` is an action: send it with POST" if verb in VERBS and verb != name else ""


def _busy_group(error: StreamError) -> str:
    stream, group = quoted(error.names["key"]), quoted(error.names["group"])
    return (
        f"the stream {stream} already has a consumer group {group}; "
        "move it with POST /v1/streams/{key}/groups/{group}:setid, or delete it first"
    )


def _no_such_consumer(error: StreamError) -> str:
    stream, group, consumer = (quoted(error.names[each]) for each in ("key", "group", "consumer"))
    return f"the group {group} of the stream {stream} has no consumer {consumer}"


def _consumer_has_pending(error: StreamError) -> str:
    if "deleted" in error.details:
        return (
            f"the consumer {quoted(error.names['consumer'])} has {error.details['deleted']} pending entries "
            "that were deleted from the stream, and the engine cannot transfer these; acknowledge them, or "
            "drop them with `force=true`"
        )
    return (
        f"the consumer {quoted(error.names['consumer'])} has {error.details['pending']} pending entries; "
        "hand them to another consumer with `transfer_to`, or drop them with `force=true`"
    )


def _not_greater(error: StreamError) -> str:
    last_id, given = error.details["last_id"], error.details["given"]
    if given == "0-0":
        return "the id 0-0 is not allowed: the least id is 0-1; omit `id` to let the server choose one"
    return (
        f"the id {given} is not greater than the stream's last id {last_id}; "
        "give a greater one, or omit `id` to let the server choose it"
    )


def _exhausted(error: StreamError) -> str:
    return (
        f"the stream's last id is {error.details['last_id']}, the greatest possible id; "
        "append to another stream"
    )


def _invalid_argument(error: StreamError) -> str:
    if "argument" not in error.details:
        return human_text(error)
    argument, least = error.details["argument"], error.details["least"]
    return f"`{argument}` contradicts the stream's entries: it must be at least {least}"


def _memory_limit(_error: StreamError) -> str:
    return (
        "the memory limit of the server, or of the engine behind it, is reached; delete or trim entries, or "
        "raise the limit"
    )


def _too_many_readers(error: StreamError) -> str:
    return f"{error.details['most']} reads are waiting, which is the server's limit; try again later"


def _reply_too_large(error: StreamError) -> str:
    most = error.details["reply_bytes_max"]
    return (
        f"the reply is too large: all replies of one request may take {most} bytes together; ask for fewer "
        "entries or ids at once, or use entries:export"
    )


def _wrong_type(error: StreamError) -> str:
    return (
        f"the engine has another type of value under the key {quoted(error.names['key'])}; use another key, "
        f"or "
        "delete that value with a client of the engine"
    )


def _cross_slot(_error: StreamError) -> str:
    return (
        "the keys of one step must be in one slot of the cluster; give them a common part in braces, such as "
        "`{race}:france` and `{race}:usa`, or send one request for each key"
    )


def _engine_lacks(error: StreamError) -> str:
    feature, needs = error.details["feature"], error.details["needs"]
    return (
        f"the engine behind this server has no {feature}; it needs {needs}. GET /v1/limits shows what it has"
    )


def _precondition_failed(error: StreamError) -> str:
    return (
        f"the stream's last id is {error.details['last_id']}, not the one in `if_last_id`; read the entries "
        "after the one that you expected, then decide again"
    )


def _position_trimmed(error: StreamError) -> str:
    if "next" in error.details:
        return (
            "the position belongs to an earlier stream, which was deleted; the entries of the stream now are "
            f"after {error.details['next']}; continue there"
        )
    verb = "may have been" if error.details.get("certainty") == "unknown" else "were"
    return (
        f"entries at or after the position {verb} trimmed; the first entry that is left is "
        f"{error.details['first_id']}; continue there, or omit `strict`"
    )


def _idempotency_mismatch(_error: StreamError) -> str:
    return "the producer used this idempotency key before, with another body; send a new key for new content"


def _stale_epoch(error: StreamError) -> str:
    newest = error.details["epoch"]
    return f"the producer's epoch is too old, its newest is {newest}; send that epoch or a greater one"


def _layout_changed(error: StreamError) -> str:
    layout = error.details["layout"]
    if "keys" in error.details:
        keys = error.details["keys"]
        return f"the epoch has {keys} idempotency keys and the layout '{layout}'; inspect the producer again"
    return f"the epoch began with the layout '{layout}'; replay it with that layout, or begin another epoch"


_TEXTS: Final[Mapping[ErrorCode, Callable[[StreamError], str]]] = {
    ErrorCode.NO_SUCH_STREAM: _no_such_stream,
    ErrorCode.NOGROUP: _no_group,
    ErrorCode.BUSYGROUP: _busy_group,
    ErrorCode.NO_SUCH_CONSUMER: _no_such_consumer,
    ErrorCode.CONSUMER_HAS_PENDING: _consumer_has_pending,
    ErrorCode.ID_NOT_GREATER: _not_greater,
    ErrorCode.ID_EXHAUSTED: _exhausted,
    ErrorCode.INVALID_ARGUMENT: _invalid_argument,
    ErrorCode.MEMORY_LIMIT: _memory_limit,
    ErrorCode.TOO_MANY_READERS: _too_many_readers,
    ErrorCode.REPLY_TOO_LARGE: _reply_too_large,
    ErrorCode.WRONGTYPE: _wrong_type,
    ErrorCode.CROSSSLOT: _cross_slot,
    ErrorCode.ENGINE_LACKS_FEATURE: _engine_lacks,
    ErrorCode.PRECONDITION_FAILED: _precondition_failed,
    ErrorCode.POSITION_TRIMMED: _position_trimmed,
    ErrorCode.IDEMPOTENCY_MISMATCH: _idempotency_mismatch,
    ErrorCode.STALE_EPOCH: _stale_epoch,
    ErrorCode.LAYOUT_CHANGED: _layout_changed,
}
"""For any other code, the engine's error line is the text: it is written for this API, or the code is one of
`COMMAND_CODES`."""
