"""The base class of effects."""

from __future__ import annotations

from msgspec import Struct

from tailrace.core.keyspace import Keyspace


class Effect(Struct, frozen=True, gc=False):
    """The base class of everything that changes the keyspace."""

    def apply(self, keyspace: Keyspace) -> None:
        """Carry the effect out on the keyspace, which must be in the state for which the effect was made.

        It decides nothing and cannot fail: the effect contains every id, time and count.
        """
