"""The base class of effects. This module holds data only."""

from __future__ import annotations

from msgspec import Struct


class Effect(Struct, frozen=True, gc=False):
    """The base class of everything that changes the keyspace."""
