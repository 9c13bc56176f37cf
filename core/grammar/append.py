"""XADD, and the commands that prepare a stream for it: XSETID, XCFGSET and XIDMPRECORD.

Owns XADD's options and its id. XADD checks (rule 8) each option from left to right, the combination of
options, the number of fields, and the id 0-0. The engine makes the checks that depend on the stream.

The idempotency key of IDMPAUTO is a hash of an entry's pairs that ignores their order. Each pair is hashed
separately, and the hashes are combined by sum and by exclusive or. Both ignore order, and the sum depends on
how often a pair occurs (rule 62).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

from tailrace.core.commands import (
    Append,
    AutoSeq,
    ConfigureStream,
    Idempotency,
    IdRequest,
    Malformed,
    RecordIdempotencyKey,
    SetStreamPosition,
)
from tailrace.core.errors import ErrorCode, StreamError, syntax_error
from tailrace.core.grammar.refusals import invalid_argument, wrong_arity
from tailrace.core.grammar.request import Parsed, Resp, as_ok
from tailrace.core.grammar.shapes import id_bulk
from tailrace.core.grammar.trimming import TrimOptions
from tailrace.core.grammar.words import Words, deferred
from tailrace.core.idempotency.compact_name import compact_name
from tailrace.core.limits import IDMP_DURATION_S_MAX, IDMP_MAXSIZE_MAX
from tailrace.core.log.entry import BadEntry, fragment_from_flat
from tailrace.core.replies import AppendReply
from tailrace.core.stream_id import ZERO_ID, id_ms, parse_id

_DIGEST_BYTES: Final = 16
_LENGTH_BYTES: Final = 8
_DIGEST_MASK: Final = (1 << 8 * _DIGEST_BYTES) - 1


def content_key(flat: Sequence[bytes]) -> bytes:
    """Return the key, 16 bytes, of an even number of words ``name value name value ...``. O(bytes).

    Each name is hashed after its length, so that ``ab c`` and ``a bc`` have different keys.
    """
    total = 0
    parity = 0
    for name, value in zip(flat[::2], flat[1::2], strict=True):
        pair = len(name).to_bytes(_LENGTH_BYTES, "big") + name + value
        digest = int.from_bytes(_hash(pair), "big")
        total = (total + digest) & _DIGEST_MASK
        parity ^= digest
    return _hash(total.to_bytes(_DIGEST_BYTES, "big") + parity.to_bytes(_DIGEST_BYTES, "big"))


def _hash(data: bytes) -> bytes:
    return blake2b(data, digest_size=_DIGEST_BYTES).digest()


_AUTO: Final = b"*"
_AUTO_SEQ: Final = re.compile(rb"[0-9]+-\*")


class _AddOptions:
    """XADD's options, which are between its key and its id."""

    def __init__(self) -> None:
        self.trim = TrimOptions()
        self.create = True
        self.producer: bytes | None = None
        self._idempotent_id: bytes | None = None

    def take(self, words: Words) -> bool:
        """Read one option if the next word starts one. Returns False if the next word is the id (rule 9)."""
        if words.take_option(b"nomkstream"):
            self.create = False
        elif words.take_option(b"idmpauto", 1):
            self._take_producer(words, "IDMPAUTO")
        elif words.take_option(b"idmp", 2):
            self._take_producer(words, "IDMP")
            self._idempotent_id = _take_nonempty(words, "IDMP", "idempotent ID")
        else:
            return self.trim.take(words)
        return True

    def _take_producer(self, words: Words, option: str) -> None:
        if self.producer is not None:
            raise syntax_error(", IDMP/IDMPAUTO specified multiple times")
        self.producer = _take_nonempty(words, option, "producer ID")

    def idempotency(self, fields: Sequence[bytes]) -> Idempotency | None:
        """Return the idempotency key: IDMP names it, IDMPAUTO derives it from the fields (rule 62)."""
        if self.producer is None:
            return None
        return Idempotency(self.producer, self._idempotent_id or content_key(fields))


def _take_nonempty(words: Words, option: str, what: str) -> bytes:
    name = words.take()
    if not name:
        raise syntax_error(f", {option} requires a non-empty {what}")
    return compact_name(name)


def parse_xadd(words: Words) -> Parsed:
    """``XADD key [options] <* | ms-* | ms | ms-seq> field value [field value ...]``."""
    key = words.take_key()
    options = _AddOptions()
    while words.left and words.peek() != _AUTO and options.take(words):
        pass
    requested_id = _take_id_request(words)
    if options.producer is not None and requested_id is not None:
        raise syntax_error(", IDMP/IDMPAUTO can be used only with auto-generated IDs")
    trim = options.trim.optional_trim()
    fields = words.take_rest()
    if not fields or len(fields) % 2:
        raise wrong_arity(words.name)
    if requested_id == ZERO_ID:
        raise StreamError(ErrorCode.ID_NOT_GREATER, "ERR The ID specified in XADD must be greater than 0-0")
    command = Append(
        key,
        (_fragment(fields),),
        None if requested_id is None else (requested_id,),
        trim,
        options.create,
        idempotency=options.idempotency(fields),
    )
    return command, _appended


def _take_id_request(words: Words) -> IdRequest:
    """Read the requested id. If no word is left, the fields are missing too, and the arity check fails
    later."""
    raw = words.take() if words.left else _AUTO
    if raw == _AUTO:
        return None
    if _AUTO_SEQ.fullmatch(raw):
        return AutoSeq(id_ms(parse_id(raw[: -len("-*")])))
    return parse_id(raw)


def _fragment(fields: Sequence[bytes]) -> bytes:
    try:
        return fragment_from_flat(fields)
    except BadEntry as error:
        raise StreamError(ErrorCode.ENTRY_TOO_LARGE, f"ERR {error}") from None


def _appended(reply: AppendReply | None) -> Resp:
    return None if reply is None else id_bulk(reply.ids[0])


def parse_xsetid(words: Words) -> Parsed:
    """``XSETID key last-id [ENTRIESADDED n] [MAXDELETEDID id]`` (rule 65)."""
    key = words.take_key()
    last_id = parse_id(words.take())
    entries_added: int | None = None
    max_deleted_id = ZERO_ID
    while words.left:
        if words.take_option(b"entriesadded", 1):
            entries_added = words.take_integer()
            if entries_added < 0:
                raise invalid_argument("entries_added must be positive")
        elif words.take_option(b"maxdeletedid", 1):
            max_deleted_id = parse_id(words.take())
            if last_id < max_deleted_id:
                raise invalid_argument(
                    "The ID specified in XSETID is smaller than the provided max_deleted_entry_id"
                )
        else:
            raise syntax_error()
    # In Redis, 0-0 means "not given": the stream keeps its greatest deleted id.
    command = SetStreamPosition(key, last_id, entries_added, max_deleted_id or None)
    return command, as_ok


def parse_xidmprecord(words: Words) -> Parsed:
    """``XIDMPRECORD key pid iid id``; the id is checked before the names."""
    key, producer, idempotency_key = words.take_key(), words.take(), words.take()
    value = parse_id(words.take())
    if not producer:
        raise invalid_argument("producer ID must be non-empty")
    if not idempotency_key:
        raise invalid_argument("idempotent ID must be non-empty")
    command = RecordIdempotencyKey(key, compact_name(producer), compact_name(idempotency_key), value)
    return command, as_ok


_SETTINGS: Final = {
    b"idmp-duration": ("IDMP-DURATION", IDMP_DURATION_S_MAX, "seconds"),
    b"idmp-maxsize": ("IDMP-MAXSIZE", IDMP_MAXSIZE_MAX, "entries"),
}


def parse_xcfgset(words: Words) -> Parsed:
    """``XCFGSET key [IDMP-DURATION seconds] [IDMP-MAXSIZE n]``, with at least one option.

    Redis looks for the key first, so the command carries an error in the settings as `Malformed`.
    """
    key = words.take_key()
    values = deferred(lambda: _take_settings(words))
    if isinstance(values, Malformed):
        command = ConfigureStream(key, values)
    else:
        command = ConfigureStream(key, values.get(b"idmp-duration"), values.get(b"idmp-maxsize"))
    return command, as_ok


def _take_settings(words: Words) -> dict[bytes, int]:
    values: dict[bytes, int] = {}
    while words.left:
        option = words.peek().lower()
        if option not in _SETTINGS or not words.take_option(option, 1):
            raise syntax_error()
        name, greatest, unit = _SETTINGS[option]
        if option in values:
            raise invalid_argument(f"{name} specified multiple times")
        value = words.take_integer()
        if not 1 <= value <= greatest:
            raise invalid_argument(f"{name} must be between 1 and {greatest} {unit}")
        values[option] = value
    if not values:
        raise invalid_argument("At least one parameter must be specified")
    return values
