"""Commands that delete, acknowledge or nack entries by id: XDEL, XDELEX, XACK, XACKDEL and XNACK.

Redis looks for the key or the group before it parses ids (rule 19), and parses all ids before it changes an
entry (rule 66). So the command carries a malformed id as `Malformed`. All other arguments are checked before
the key, except in XNACK, which looks for the group before it reads any argument after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from tailrace.core.commands import (
    Acknowledge,
    AcknowledgeAndDelete,
    DeleteEntries,
    DeleteEntriesByPolicy,
    Malformed,
    NackMode,
    NegativeAcknowledge,
    References,
)
from tailrace.core.errors import printable, syntax_error
from tailrace.core.grammar.refusals import invalid_argument
from tailrace.core.grammar.request import Parsed, as_count
from tailrace.core.grammar.shapes import integer_list
from tailrace.core.grammar.trimming import take_references
from tailrace.core.grammar.words import I64_MAX, Words, deferred, deferred_ids
from tailrace.core.stream_id import StreamId


def parse_xdel(words: Words) -> Parsed:
    """``XDEL key id [id ...]``."""
    key = words.take_key()
    command = DeleteEntries(key, deferred_ids(words.take_rest()))
    return command, as_count


def parse_xack(words: Words) -> Parsed:
    """``XACK key group id [id ...]``."""
    key, group = words.take_key(), words.take_group()
    command = Acknowledge(key, group, deferred_ids(words.take_rest()))
    return command, as_count


class _IdsByPolicy(Struct, frozen=True):
    """``IDS numids id [id ...]`` and a reference policy, in either order."""

    ids: Sequence[bytes]
    references: References


def _take_ids_by_policy(words: Words) -> _IdsByPolicy:
    ids: Sequence[bytes] | None = None
    references: References | None = None
    while words.left:
        if words.take_option(b"ids", 1):
            ids = _take_counted_ids(words)
        elif references is None and (references := take_references(words)) is not None:
            continue
        else:
            raise syntax_error()
    if ids is None:
        raise invalid_argument("IDS option is required")
    return _IdsByPolicy(ids, references or References.KEEP)


def _take_counted_ids(words: Words) -> Sequence[bytes]:
    count = words.take_bounded(1, I64_MAX, "Number of IDs must be a positive integer")
    if count > words.left:
        raise invalid_argument("The `numids` parameter must match the number of arguments")
    return words.take_many(count)


def parse_xdelex(words: Words) -> Parsed:
    """``XDELEX key [KEEPREF|DELREF|ACKED] IDS numids id [id ...]``."""
    key = words.take_key()
    arguments = _take_ids_by_policy(words)
    command = DeleteEntriesByPolicy(
        key, deferred_ids(arguments.ids), len(arguments.ids), arguments.references
    )
    return command, integer_list


def parse_xackdel(words: Words) -> Parsed:
    """``XACKDEL key group [KEEPREF|DELREF|ACKED] IDS numids id [id ...]``."""
    key, group = words.take_key(), words.take_group()
    arguments = _take_ids_by_policy(words)
    command = AcknowledgeAndDelete(
        key, group, deferred_ids(arguments.ids), len(arguments.ids), arguments.references
    )
    return command, integer_list


_NACKED_IDS_MAX: Final = (1 << 31) - 1
"""Redis reads XNACK's numids as a 32-bit integer, and numids of the other commands as a 64-bit integer."""

_NACK_MODES: Final = {mode.value.encode(): mode for mode in NackMode}


class _Nack(Struct, frozen=True):
    """The arguments of XNACK after the group."""

    mode: NackMode
    ids: tuple[StreamId, ...] | Malformed
    retry_count: int | None
    force: bool


def parse_xnack(words: Words) -> Parsed:
    """``XNACK key group SILENT|FAIL|FATAL IDS numids id [id ...] [RETRYCOUNT n] [FORCE]`` (rule 54).

    Redis looks for the group first, so the command carries an error in the other arguments as `Malformed`.
    """
    key, group = words.take_key(), words.take_group()
    arguments = deferred(lambda: _take_nack(words))
    if isinstance(arguments, Malformed):
        arguments = _Nack(NackMode.FAIL, arguments, None, force=False)
    command = NegativeAcknowledge(
        key, group, arguments.mode, arguments.ids, arguments.retry_count, arguments.force
    )
    return command, as_count


def _take_nack(words: Words) -> _Nack:
    mode = _NACK_MODES.get(words.take().lower())
    if mode is None:
        raise invalid_argument("mode must be SILENT, FAIL, or FATAL")
    ids: Sequence[bytes] | None = None
    retry_count: int | None = None
    force = False
    while words.left:
        if words.take_option(b"ids", 1):
            ids = _take_nacked_ids(words)
        elif words.take_option(b"retrycount", 1):
            retry_count = _take_retry_count(words)
        elif words.take_option(b"force"):
            force = True
        else:
            raise invalid_argument(f"Unrecognized XNACK option '{printable(words.peek())}'")
    if ids is None:
        raise syntax_error(", expected IDS keyword")
    return _Nack(mode, deferred_ids(ids), retry_count, force)


def _take_retry_count(words: Words) -> int:
    retry_count = words.take_integer()
    if retry_count < 0:
        raise invalid_argument("Invalid RETRYCOUNT value, must be >= 0")
    return retry_count


def _take_nacked_ids(words: Words) -> Sequence[bytes]:
    count = words.take_bounded(1, _NACKED_IDS_MAX, "numids must be a positive integer")
    if count > words.left:
        raise invalid_argument("number of IDs doesn't match numids")
    return words.take_many(count)
