"""Producer ids, idempotency keys and layouts in a form of bounded size.

A client may send a name of any length, and the server only compares names for equality. A short name is
stored unchanged; a long name is stored as its digest, so memory, journal and checkpoint do not grow with the
length that the client chooses. This module does not use streams.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

from tailrace.core.limits import NAME_BYTES_MAX

_MARK: Final = b"tailrace:blake2b:"
_DIGEST_BYTES: Final = 32


def compact_name(name: bytes) -> bytes:
    """Return `name` if it has at most `NAME_BYTES_MAX` bytes, else its marked digest. O(bytes).

    A short name that begins with the mark is digested as well, so no client can send a name that equals the
    digest of another.
    """
    if len(name) <= NAME_BYTES_MAX and not name.startswith(_MARK):
        return name
    return _MARK + blake2b(name, digest_size=_DIGEST_BYTES).hexdigest().encode()
