"""The room that the replies of one request share: how much of `REPLY_BYTES_MAX` is left.

A reply that must be complete (XRANGE, XCLAIM, KEYS) is charged before anything is changed, and refused if it
does not fit. A reply whose client can read on from its end (XREAD, XREADGROUP, XAUTOCLAIM) is cut: it ends
with the entry that uses up the room, and is refused only if no room is left. While any room is left, one
entry always fits, so a request exceeds the limit by one entry at most.

Sizes are those of the JSON text, for base64 the longer of its two forms. MAXSIZE, which counts as RESP does,
is `core.bounds.reply_budget`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from tailrace.core.errors import StreamError, reply_too_large
from tailrace.core.limits import MATCHING_STEPS_MAX, REPLY_BYTES_MAX
from tailrace.core.log.entry import BASE64_MARK, flat_of

ITEM_BYTES: Final = 128
"""The memory of an entry or a name in addition to its text: an object, references, an id, punctuation."""

NAME_GROWTH_MAX: Final = 6
"""A byte of a name takes at most this many as JSON text (``\\u0000``)."""

_BASE64_OBJECT_BYTES: Final = len('{"base64":""}')

_BETWEEN: Final = b"\n"
_MARKED: Final = _BETWEEN + BASE64_MARK

_encode: Final = msgspec.json.Encoder().encode


class ReplyRoom:
    """The bytes that the replies of one request may still take.

    `left_bytes`: the limit of further replies. `asked_bytes`: the size of all replies so far, including those
    that were refused. `steps_left`: the limit of further work on patterns; negative after too much of it.
    """

    __slots__ = ("_size_bytes", "asked_bytes", "left_bytes", "steps_left")

    def __init__(self, size_bytes: int = REPLY_BYTES_MAX) -> None:
        self._size_bytes = size_bytes
        self.left_bytes = size_bytes
        self.asked_bytes = 0
        self.steps_left = MATCHING_STEPS_MAX

    @property
    def items_left(self) -> int:
        """At most so many items fit, if they have no text; 0 or more."""
        return self.left_bytes // ITEM_BYTES if self.left_bytes > 0 else 0

    @property
    def has_any(self) -> bool:
        """Whether an entry fits: one alone may exceed what is left."""
        return self.left_bytes > 0

    def require_any(self) -> None:
        """Raise REPLY_TOO_LARGE where nothing is left."""
        if self.left_bytes <= 0:
            raise self.refusal()

    def refusal(self) -> StreamError:
        """REPLY_TOO_LARGE, which names the whole room."""
        return reply_too_large(self._size_bytes)

    def charge(self, size_bytes: int) -> None:
        """Take `size_bytes`. Raises REPLY_TOO_LARGE where less is left."""
        self.asked_bytes += size_bytes
        if size_bytes > self.left_bytes:
            raise self.refusal()
        self.left_bytes -= size_bytes

    def charge_items(self, count: int) -> None:
        """Take the room of `count` items without text, such as ids."""
        self.charge(count * ITEM_BYTES)

    def charge_names(self, names: Sequence[bytes]) -> None:
        """Take the room of these names. O(bytes)."""
        self.charge(len(names) * ITEM_BYTES + _text_bytes_of_all(names))

    def charge_entries(self, fragments: Sequence[bytes | None]) -> None:
        """Take the room of entries that are all in the reply. Raises REPLY_TOO_LARGE. O(entries)."""
        if fragments:
            self.charge_measured(len(fragments), entries_bytes(fragments))

    def charge_measured(self, count: int, size_bytes: int) -> None:
        """As `charge_entries`, of `count` entries that take `size_bytes`. O(1)."""
        if count > 1:
            self.charge(size_bytes)
        elif count:
            self.require_any()
            self._take(size_bytes)

    def take_fitting(self, fragments: Sequence[bytes | None]) -> int:
        """Take the room of the entries, from the first on, that fit into a reply that may be cut; how many.
        O(entries)."""
        size_bytes = entries_bytes(fragments)
        if size_bytes <= self.left_bytes:
            self.asked_bytes += size_bytes
            self.left_bytes -= size_bytes
            return len(fragments)
        count = 0
        while self.has_any and count < len(fragments):
            self._take(entries_bytes(fragments[count : count + 1]))
            count += 1
        return count

    def give_back(self, fragments: Sequence[bytes | None]) -> None:
        """Return the room of entries that the reply does not contain after all. O(entries)."""
        if fragments:
            self.left_bytes += entries_bytes(fragments)

    def _take(self, size_bytes: int) -> None:
        self.asked_bytes += size_bytes
        self.left_bytes -= size_bytes

    def take_steps(self, steps: int) -> bool:
        """Count `steps` of work on patterns. Return False if they exceed the limit of the request."""
        self.steps_left -= steps
        return self.steps_left >= 0


def entries_bytes(fragments: Sequence[bytes | None]) -> int:
    """Return the bytes of entries in a reply. O(entries); those that are not UTF-8 are measured, O(bytes).

    A fragment is the JSON text itself, unless it is base64. REST writes a base64 fragment as it is; a
    command's reply writes its strings that are UTF-8 as text, in which a control character takes six bytes.
    The longer of the two counts, so that an entry never takes less than its fragment: the log stops reading
    where the fragments alone fill the room.
    """
    stored: Sequence[bytes]
    if len(fragments) == 1 and fragments[0] is not None and fragments[0][:1] != BASE64_MARK:
        return ITEM_BYTES + len(fragments[0])
    try:
        # Fragments have no line feeds, so the text shows which of them begin with a mark.
        joined = _BETWEEN.join(fragments)  # type: ignore[arg-type] # None raises
    except TypeError:
        stored = [fragment for fragment in fragments if fragment is not None]
        joined = _BETWEEN.join(stored)
    else:
        stored = fragments  # type: ignore[assignment] # none is None
    size_bytes = len(fragments) * ITEM_BYTES + len(joined) - max(len(stored) - 1, 0)
    if BASE64_MARK in joined and (joined[:1] == BASE64_MARK or _MARKED in joined):
        marked = [fragment for fragment in stored if fragment[:1] == BASE64_MARK]
        size_bytes += sum(max(_text_bytes_of_all(flat_of(each)) - len(each), 0) for each in marked)
    return size_bytes


def _text_bytes_of_all(texts: Sequence[bytes]) -> int:
    try:
        return len(_encode(b"".join(texts).decode()))
    except UnicodeDecodeError:
        return sum(map(_text_bytes, texts))


def _text_bytes(text: bytes) -> int:
    try:
        return len(_encode(text.decode()))
    except UnicodeDecodeError:
        return _BASE64_OBJECT_BYTES + 4 * -(-len(text) // 3)
