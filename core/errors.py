"""The errors with which the engine refuses a command.

There is one exception type. It has a stable code, which HTTP clients compare, and the exact error line of
Redis, which clients that come from Redis compare. This module assigns no HTTP status.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, Literal, TypeAlias, TypeVar

ErrorT = TypeVar("ErrorT", bound=Exception)

Missing: TypeAlias = Literal["stream", "group"]
"""What a command that needs a group did not find."""


class ErrorCode(StrEnum):
    """The codes of errors. New codes may be added; the meaning of a code never changes."""

    INVALID_ID = "INVALID_ID"
    ID_NOT_GREATER = "ID_NOT_GREATER"
    ID_EXHAUSTED = "ID_EXHAUSTED"
    INVALID_ARGUMENT = "INVALID_ARGUMENT"
    NOT_AN_INTEGER = "NOT_AN_INTEGER"
    SYNTAX = "SYNTAX"
    WRONG_ARITY = "WRONG_ARITY"
    UNKNOWN_COMMAND = "UNKNOWN_COMMAND"
    NO_SUCH_STREAM = "NO_SUCH_STREAM"
    NOGROUP = "NOGROUP"
    BUSYGROUP = "BUSYGROUP"
    NO_SUCH_CONSUMER = "NO_SUCH_CONSUMER"
    CONSUMER_HAS_PENDING = "CONSUMER_HAS_PENDING"
    ENTRY_TOO_LARGE = "ENTRY_TOO_LARGE"
    LIMIT_EXCEEDED = "LIMIT_EXCEEDED"
    PRECONDITION_FAILED = "PRECONDITION_FAILED"
    POSITION_TRIMMED = "POSITION_TRIMMED"
    IDEMPOTENCY_MISMATCH = "IDEMPOTENCY_MISMATCH"
    STALE_EPOCH = "STALE_EPOCH"
    LAYOUT_CHANGED = "LAYOUT_CHANGED"
    REPLY_TOO_LARGE = "REPLY_TOO_LARGE"
    MEMORY_LIMIT = "MEMORY_LIMIT"
    TOO_MANY_READERS = "TOO_MANY_READERS"
    WRONGTYPE = "WRONGTYPE"
    CROSSSLOT = "CROSSSLOT"
    ENGINE_LACKS_FEATURE = "ENGINE_LACKS_FEATURE"
    NOPERM = "NOPERM"
    INVALID_FILTER = "INVALID_FILTER"


class StreamError(Exception):
    """A refused command. Nothing has changed."""

    def __init__(
        self, code: ErrorCode, line: str, names: Mapping[str, bytes] | None = None, **details: str
    ) -> None:
        super().__init__(line)
        self.code = code
        # The whole error line of Redis without the leading dash (``ERR ...``, ``NOGROUP ...``).
        self.line = line
        # The names that the error is about (`key`, `group`, `consumer`), byte for byte.
        self.names: Mapping[str, bytes] = names or {}
        # Values that help a client to continue (`last_id`, `first_id`, `given`), as text.
        self.details = details


def kept(error: ErrorT) -> ErrorT:
    """Return the error without its traceback, to keep it as a reply. The frames of the traceback would keep
    alive the data that the command read: megabytes for each error."""
    error.__traceback__ = error.__context__ = error.__cause__ = None
    return error


_ONE_LINE: Final = bytes.maketrans(b"\r\n", b"  ")


def printable(name: bytes) -> str:
    r"""Return a client's word in the form for an error line: line ends become spaces, as in Redis, and bytes
    that are not UTF-8 become ``\xNN``."""
    return name.translate(_ONE_LINE).decode("utf-8", "backslashreplace")


def no_group_for_read(key: bytes, group: bytes, missing: Missing) -> StreamError:
    """Return the error of XREADGROUP for a missing key or group (rule 27)."""
    return StreamError(
        ErrorCode.NOGROUP,
        f"NOGROUP No such key '{printable(key)}' or consumer group '{printable(group)}' "
        "in XREADGROUP with GROUP option",
        {"key": key, "group": group},
        missing=missing,
    )


def no_key_or_group(key: bytes, group: bytes, missing: Missing) -> StreamError:
    """Return the error of XPENDING, XCLAIM, XAUTOCLAIM and XNACK for a missing key or group."""
    return StreamError(
        ErrorCode.NOGROUP,
        f"NOGROUP No such key '{printable(key)}' or consumer group '{printable(group)}'",
        {"key": key, "group": group},
        missing=missing,
    )


def no_group(key: bytes, group: bytes) -> StreamError:
    """Return the error of XGROUP subcommands and XINFO CONSUMERS for an existing key without that group."""
    return StreamError(
        ErrorCode.NOGROUP,
        f"NOGROUP No such consumer group '{printable(group)}' for key name '{printable(key)}'",
        {"key": key, "group": group},
        missing="group",
    )


def no_such_consumer(key: bytes, group: bytes, consumer: bytes) -> StreamError:
    """Return the error for a missing consumer, for commands where Redis replies 0."""
    return StreamError(
        ErrorCode.NO_SUCH_CONSUMER,
        f"ERR the group has no consumer '{printable(consumer)}'",
        {"key": key, "group": group, "consumer": consumer},
    )


def consumer_has_pending(
    key: bytes, group: bytes, consumer: bytes, pending: int, *, are_deleted: bool = False
) -> StreamError:
    """Return the error of deleting a consumer, if that would drop `pending` entries. `are_deleted`: only
    these cannot be transferred, because they were deleted from the stream."""
    deleted = {"deleted": str(pending)} if are_deleted else {}
    return StreamError(
        ErrorCode.CONSUMER_HAS_PENDING,
        f"ERR consumer '{printable(consumer)}' has {pending} pending entries",
        {"key": key, "group": group, "consumer": consumer},
        pending=str(pending),
        **deleted,
    )


def key_required(key: bytes, group: bytes) -> StreamError:
    """Return the error of XGROUP subcommands for a missing key."""
    return StreamError(
        ErrorCode.NO_SUCH_STREAM,
        "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use "
        "the MKSTREAM option to create an empty stream automatically.",
        {"key": key, "group": group},
    )


def no_such_key(key: bytes) -> StreamError:
    """Return the error of XINFO, XSETID, XCFGSET and RENAME for a missing key."""
    return StreamError(ErrorCode.NO_SUCH_STREAM, "ERR no such key", {"key": key})


def ids_exhausted() -> StreamError:
    """Return the error of XADD after the greatest possible id."""
    return StreamError(
        ErrorCode.ID_EXHAUSTED,
        "ERR The stream has exhausted the last possible ID, unable to add more items",
        last_id="18446744073709551615-18446744073709551615",
    )


def syntax_error(detail: str = "") -> StreamError:
    """Return ``ERR syntax error``. `detail`: Redis's continuation of the line, if it has one."""
    return StreamError(ErrorCode.SYNTAX, f"ERR syntax error{detail}")


def not_an_integer() -> StreamError:
    """Return Redis's error for an argument that must be a signed 64-bit integer and is not."""
    return StreamError(ErrorCode.NOT_AN_INTEGER, "ERR value is not an integer or out of range")


def out_of_memory() -> StreamError:
    """Return Redis's error for a command that makes the data grow while the server is at its memory limit."""
    return StreamError(ErrorCode.MEMORY_LIMIT, "OOM command not allowed when used memory > 'maxmemory'.")


def position_lost(after: str, next_id: str, last_id: str, incarnation: str | None) -> StreamError:
    """Return the error of a read after `after`, a position of another stream than the one that has the key
    now. Reading begins again after `next_id`."""
    error = StreamError(
        ErrorCode.POSITION_TRIMMED,
        f"ERR {after} is a position of an earlier stream, read on after {next_id}",
        next=next_id,
        last_id=last_id,
    )
    if incarnation is not None:
        error.details["incarnation"] = incarnation
    return error


def too_many_readers(most: int) -> StreamError:
    """Return the error of a read that would wait, while the maximum number of reads is already waiting."""
    return StreamError(
        ErrorCode.TOO_MANY_READERS, f"ERR limit reached: {most} reads are already waiting", most=str(most)
    )


def reply_too_large(most_bytes: int) -> StreamError:
    """Return the error of a reply that exceeds the room left for the replies of its request."""
    return StreamError(
        ErrorCode.REPLY_TOO_LARGE,
        f"ERR the reply does not fit: the replies of one request may take {most_bytes} bytes. Use COUNT, "
        "a smaller range, fewer commands in a request, or entries:export",
        reply_bytes_max=str(most_bytes),
    )


def wrong_type(key: bytes) -> StreamError:
    """Return the error of a key that is not a stream. Only a store in front of Redis has such keys."""
    return StreamError(
        ErrorCode.WRONGTYPE,
        "WRONGTYPE Operation against a key holding the wrong kind of value",
        {"key": key},
    )


def same_object() -> StreamError:
    """Return the error of COPY to the stream itself."""
    return StreamError(ErrorCode.INVALID_ARGUMENT, "ERR source and destination objects are the same")


def cross_slot() -> StreamError:
    """Return the error of keys in several slots of a Cluster, for a command that needs all of them in one."""
    return StreamError(ErrorCode.CROSSSLOT, "CROSSSLOT Keys in request don't hash to the same slot")


def engine_lacks(feature: str, needs: str) -> StreamError:
    """Return the error of a command that the engine of the store cannot carry out. `needs`: which engine
    can."""
    return StreamError(
        ErrorCode.ENGINE_LACKS_FEATURE,
        f"ERR the engine has no {feature}, which needs {needs}",
        feature=feature,
        needs=needs,
    )
