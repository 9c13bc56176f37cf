"""Appends and deletions that take more than one command of an engine.

They are batches, conditions, idempotency keys and the keys' inspection; and XDELEX, XACKDEL and trims with a
reference policy, for engines without them (Redis below 8.2, Valkey below 9.2).

All entries of an `Append` are stored or none. The calls work on the stream and its state (`names.state_key`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import uuid4

from tailrace.app.remote.functions.call import (
    Call,
    flag,
    id_word,
    id_words,
    items,
    number,
    optional,
    requested_id_word,
    stream_id,
    text,
)
from tailrace.app.remote.functions.names import state_key
from tailrace.app.remote.functions.refusals import accepted
from tailrace.app.remote.link.port import Resp
from tailrace.core.commands import (
    AcknowledgeAndDelete,
    Append,
    DeleteEntriesByPolicy,
    FindAppend,
    Idempotency,
    InfoProducer,
    Malformed,
    References,
    TakeOverEpoch,
    Trim,
    TrimStream,
)
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.limits import IDMP_DURATION_S_DEFAULT, IDMP_MAXSIZE_DEFAULT
from tailrace.core.log.entry import flat_of
from tailrace.core.replies import AppendReply, DeleteResult, EpochInfo
from tailrace.core.stream_id import StreamId

ENTRIES_MAX: Final = 50_000
"""Entries of one atomic append. The engine does nothing else meanwhile: up to 0.4 s."""

WORDS_MAX: Final = 750_000
"""Names and values of one atomic append. The engine takes about a million words in one command."""

ENTRY_WORDS_MAX: Final = 7_000
"""Names and values of one entry of an append by the library: Lua passes no more arguments to one command."""

_NO_TRIM: Final = (b"", b"", b"", b"", b"")


def new_incarnation() -> bytes:
    """Return a name that no stream has, for one that has none yet."""
    return uuid4().hex.encode()


def needs_library(command: Append) -> bool:
    """Whether plain XADD cannot carry the append out (reference policies of its trim aside).

    A key of IDMP needs it also if the engine has IDMP: the library may have stored the key before the engine
    was upgraded.
    """
    return len(command.fragments) > 1 or command.if_last_id is not None or command.idempotency is not None


def append(command: Append, *, native_policies: bool) -> Call[AppendReply | None]:
    """Append entries: reply `AppendReply`, or None (NOMKSTREAM and no stream).

    Raises LIMIT_EXCEEDED or ENTRY_TOO_LARGE if the engine cannot take all entries in one step. The call
    refuses what the embedded engine refuses, with the same errors. O(entries).
    """
    if command.ids is not None and 0 in command.ids:
        raise StreamError(
            ErrorCode.ID_NOT_GREATER,
            "ERR The ID specified in XADD must be greater than 0-0",
            last_id="0-0",
            given="0-0",
        )
    arguments = [
        flag(command.create),
        b"" if command.if_last_id is None else id_word(command.if_last_id),
        new_incarnation(),
        *_idempotency_words(command.idempotency),
        *trim_arguments(command.trim, native_policies=native_policies),
        *_entry_words(command),
    ]
    return Call(b"append", (command.key, state_key(command.key)), arguments, "grow", _appended)


def trim_arguments(trim: Trim | None, *, native_policies: bool) -> Sequence[bytes]:
    """Return five words: whether the engine knows the policies, the policy, the rule with its operator,
    and the limit."""
    if trim is None:
        return _NO_TRIM
    by_length = trim.max_length is not None
    threshold = b"%d" % trim.max_length if trim.max_length is not None else id_word(trim.min_id or 0)
    rule = (b"MAXLEN" if by_length else b"MINID") + (b"~" if trim.approximate else b"=")
    policy = {"keep": b"KEEPREF", "delete": b"DELREF", "acknowledged": b"ACKED"}[trim.references.value]
    return flag(native_policies), policy, rule, threshold, optional(trim.limit)


def _entry_words(command: Append) -> list[bytes]:
    """How many entries, then each entry's id, number of words, and words."""
    if len(command.fragments) > ENTRIES_MAX:
        raise StreamError(
            ErrorCode.LIMIT_EXCEEDED,
            f"ERR the engine appends at most {ENTRIES_MAX} entries at once, this request has "
            f"{len(command.fragments)}: send smaller requests",
        )
    words = [b"%d" % len(command.fragments)]
    requests = command.ids if command.ids is not None else [None] * len(command.fragments)
    for request, fragment in zip(requests, command.fragments, strict=True):
        flat = flat_of(fragment)
        if len(flat) > ENTRY_WORDS_MAX:
            raise _entry_too_wide(len(flat))
        words += [requested_id_word(request), b"%d" % len(flat), *flat]
    if len(words) > WORDS_MAX:
        raise StreamError(
            ErrorCode.LIMIT_EXCEEDED,
            f"ERR the engine takes at most {WORDS_MAX} names and values at once, this request has "
            f"{len(words)}: send smaller requests",
        )
    return words


def _entry_too_wide(words: int) -> StreamError:
    return StreamError(
        ErrorCode.ENTRY_TOO_LARGE,
        f"ERR with this store, an entry of a batch, or with a condition or an idempotency key, may have "
        f"{ENTRY_WORDS_MAX // 2} fields at most, this one has {words // 2}",
    )


def _idempotency_words(request: Idempotency | None) -> Sequence[bytes]:
    """Return eight words: the kind, then what the request says, then the settings of a new stream."""
    defaults = b"%d" % IDMP_DURATION_S_DEFAULT, b"%d" % IDMP_MAXSIZE_DEFAULT
    if request is None:
        return b"", b"", b"", b"", b"", b"", *defaults
    # A fingerprint or a layout may be empty, so a given one begins with a mark.
    fingerprint = b"" if request.fingerprint is None else b"=" + request.fingerprint
    layout = b"" if request.layout is None else b"=" + request.layout
    kind, epoch = (b"t", b"") if request.epoch is None else (b"e", b"%d" % request.epoch)
    return kind, request.producer, request.key, fingerprint, epoch, layout, *defaults


def _appended(answer: Resp) -> AppendReply | None:
    values = accepted(answer)
    if not values:
        return None
    replayed, count, *ids = values
    return AppendReply(_ids(number(count), ids), replayed=number(replayed) == 1)


def _ids(count: int, ids: Sequence[Resp]) -> Sequence[StreamId]:
    """The ids of an append: all of them, or the first one of consecutive ids."""
    if len(ids) == count:
        return tuple(map(stream_id, ids))
    first = stream_id(ids[0])
    return range(first, first + count)


def find_append(command: FindAppend) -> Call[AppendReply | None] | None:
    """Find an append by its key: reply `AppendReply`, or None. None instead of a call: the append is
    always new."""
    if command.idempotency is None:
        return None
    keys = (command.key, state_key(command.key))
    return Call(b"find", keys, _idempotency_words(command.idempotency), "read", _appended)


def info_producer(command: InfoProducer) -> Call[list[EpochInfo]]:
    """Show the epochs of a producer: reply `EpochInfo`s."""
    keys = (command.key, state_key(command.key))
    return Call(b"producer", keys, [command.producer], "read", _epochs)


def _epochs(answer: Resp) -> list[EpochInfo]:
    return [_epoch(*items(item)) for item in accepted(answer)]


def _epoch(count: Resp, layout: Resp, keys: Resp) -> EpochInfo:
    pinned = text(layout)
    return EpochInfo(number(count), pinned[1:] if pinned else None, number(keys))


def take_over_epoch(command: TakeOverEpoch) -> Call[None]:
    """Give an epoch another layout: reply None."""
    arguments = [
        command.producer,
        b"%d" % command.epoch,
        b"=" + command.replaces,
        b"=" + command.layout,
        b"%d" % command.key_count,
    ]
    return Call(b"take_over", (command.key, state_key(command.key)), arguments, "grow", _nothing)


def _nothing(answer: Resp) -> None:
    accepted(answer)


_POLICIES = {References.KEEP: b"KEEPREF", References.DELETE: b"DELREF", References.ACKNOWLEDGED: b"ACKED"}


def delete_by_policy(command: DeleteEntriesByPolicy) -> Call[list[DeleteResult]]:
    """XDELEX: reply a `DeleteResult` for each id. The ids must be well formed. O(ids log n) a group.

    Refused with LIMIT_EXCEEDED if the ids times the groups are more than a script may look at.
    """
    assert not isinstance(command.ids, Malformed)
    arguments = [_POLICIES[command.references], *id_words(command.ids)]
    return Call(b"delete", (command.key,), arguments, "change", _results)


def acknowledge_and_delete(command: AcknowledgeAndDelete) -> Call[list[DeleteResult]]:
    """XACKDEL: reply a `DeleteResult` for each id, as `delete_by_policy`. A missing stream or group is -1
    for each."""
    assert not isinstance(command.ids, Malformed)
    arguments = [_POLICIES[command.references], command.group, *id_words(command.ids)]
    return Call(b"ack_delete", (command.key,), arguments, "change", _results)


def _results(answer: Resp) -> list[DeleteResult]:
    return [DeleteResult(number(value)) for value in accepted(answer)]


def trim(command: TrimStream, *, native_policies: bool) -> Call[int | None]:
    """XTRIM: reply the number of removed entries, None for a missing stream.

    Under ACKED at most 5 000 entries are examined; the next trim continues. DELREF is refused with
    LIMIT_EXCEEDED if it would have to look at more than a script may.
    """
    arguments = trim_arguments(command.trim, native_policies=native_policies)
    return Call(b"trim", (command.key,), arguments, "change", _removed)


def _removed(answer: Resp) -> int | None:
    values = accepted(answer)
    return number(values[0]) if values else None
