"""How ids, numbers, positions and options are written in Redis's words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tailrace.app.remote.words.plan import Words
from tailrace.core.commands import AutoSeq, IdRequest, Malformed, References, Special, Trim
from tailrace.core.stream_id import SEQ_BITS, U64_MAX, StreamId

POLICIES: Final = {
    References.KEEP: b"KEEPREF",
    References.DELETE: b"DELREF",
    References.ACKNOWLEDGED: b"ACKED",
}


def id_word(value: StreamId) -> bytes:
    """Return an id."""
    return b"%d-%d" % (value >> SEQ_BITS, value & U64_MAX)


def id_words(ids: Iterable[StreamId]) -> Words:
    """Return ids, one word each."""
    return [b"%d-%d" % (value >> SEQ_BITS, value & U64_MAX) for value in ids]


def number_word(value: int) -> bytes:
    """Return an integer."""
    return b"%d" % value


def requested_id_word(request: IdRequest) -> bytes:
    """Return the id argument of XADD."""
    if request is None:
        return b"*"
    return b"%d-*" % request.ms if isinstance(request, AutoSeq) else id_word(request)


def position_word(after: StreamId | Special | Malformed) -> bytes:
    """Return the position of a group: an id or ``$``. The position must be well formed."""
    assert not isinstance(after, Malformed)
    return after.value.encode() if isinstance(after, Special) else id_word(after)


def trim_words(trim: Trim | None) -> Words:
    """Return a trimming rule without its reference policy; no words for None."""
    if trim is None:
        return []
    by_length = trim.max_length is not None
    words = [b"MAXLEN" if by_length else b"MINID", b"~" if trim.approximate else b"="]
    if trim.max_length is not None:
        words.append(number_word(trim.max_length))
    if trim.min_id is not None:
        words.append(id_word(trim.min_id))
    if trim.limit is not None:
        words += [b"LIMIT", number_word(trim.limit)]
    return words


def policy_words(references: References) -> Words:
    """Return a reference policy; no words for the default, which every engine has."""
    return [] if references is References.KEEP else [POLICIES[references]]


def counted_ids(ids: Iterable[StreamId]) -> Words:
    """Return ``IDS numids id [id ...]``."""
    words = id_words(ids)
    return [b"IDS", number_word(len(words)), *words]


def option(name: bytes, value: int | None) -> Words:
    """Return an option with an integer; no words for None."""
    return [] if value is None else [name, number_word(value)]
