r"""The names that the gateway keeps for itself on an engine, none of which a client may use or see.

- the state of a stream, a hash in the stream's slot: its idempotency keys and counters (`state_key`);
- the settings of a stream's groups, another hash in the slot (`settings_key`), and the registry, a hash that
  names the streams that may have settings (`REGISTRY`);
- the mark of a stream, a consumer group whose name holds the stream's incarnation: it lives and dies with the
  stream, also if another client of the engine deletes the stream, or the engine evicts it;
- the consumer that owns nacked entries on an engine without XNACK (`NACKED`).

All of them begin with ``\0tailrace:``. This module sends nothing.
"""

from __future__ import annotations

from binascii import crc_hqx
from functools import lru_cache
from itertools import count
from typing import Final

RESERVED: Final = b"\0tailrace:"
"""The first bytes of every name that belongs to the gateway."""

NACKED: Final = RESERVED + b"nacked"
"""The consumer that owns nacked entries on an engine without XNACK."""

REGISTRY: Final = RESERVED + b"settings"
"""The hash that names the streams that may have settings; it is in a slot of its own."""

_SETTINGS: Final = b"s"
"""How the form of a `settings_key` begins."""

SLOTS: Final = 16_384
"""The slots of a Cluster; a key's slot is its CRC16 modulo this number."""


def is_reserved(name: bytes) -> bool:
    """Whether a key, group or consumer name belongs to the gateway: clients may not use it, and never see
    it."""
    return name.startswith(RESERVED)


def state_key(key: bytes) -> bytes:
    """Return the key of the hash with the state of the stream `key`, which is in the same slot.

    Different streams have different state keys. O(bytes); about 10 ms once for a slot that only the empty key
    or a key with an unmatched ``}`` names.
    """
    return _beside(key, b"")


def settings_key(key: bytes) -> bytes:
    """Return the key of the hash with the settings of the stream's groups: see `state_key`."""
    return _beside(key, _SETTINGS)


def settings_keys(has_settings: bool, *keys: bytes) -> tuple[bytes, ...]:  # noqa: FBT001 - it says which keys
    """Return the `settings_key` of each stream if any of them may have settings, else none."""
    return tuple(map(settings_key, keys)) if has_settings else ()


def _beside(key: bytes, kind: bytes) -> bytes:
    """Return a name in the slot of `key`: by the tag of the key, or with the key as the tag. A key that
    cannot be a tag, which is the empty one or one with ``}``, follows a number that is in its slot."""
    if _has_hash_tag(key):
        return RESERVED + kind + b"a:" + key
    if key and b"}" not in key:
        return RESERVED + kind + b"b:{" + key + b"}"
    return RESERVED + kind + b"c:{%d}" % _tag_of(crc_hqx(key, 0) % SLOTS) + key


def stream_of(state: bytes) -> bytes | None:
    """Return the stream whose `state_key` or `settings_key` this is; None for any other key."""
    if not is_reserved(state):
        return None
    form, _, rest = state.removeprefix(RESERVED).partition(b":")
    kind, form = (_SETTINGS, form[1:]) if form.startswith(_SETTINGS) else (b"", form)
    names = {b"a": rest, b"b": rest[1:-1], b"c": rest.partition(b"}")[2]}
    key = names.get(form)
    return key if key is not None and _beside(key, kind) == state else None


def _has_hash_tag(key: bytes) -> bool:
    """Whether only a part of the key in braces, not the whole key, decides its slot."""
    _, opening, rest = key.partition(b"{")
    tag, closing, _ = rest.partition(b"}")
    return bool(opening and closing and tag)


@lru_cache(maxsize=1_024)
def _tag_of(slot: int) -> int:
    """The least number whose decimal digits are in `slot`."""
    return next(number for number in count() if crc_hqx(b"%d" % number, 0) % SLOTS == slot)
