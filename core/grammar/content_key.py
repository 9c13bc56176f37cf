"""The idempotency key of IDMPAUTO: a hash of an entry's pairs that ignores their order.

Each pair is hashed separately, and the hashes are combined by sum and by exclusive or. Both ignore order, and
the sum depends on how often a pair occurs (rule 62). This module never reads a stream.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

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
