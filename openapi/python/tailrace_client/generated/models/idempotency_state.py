from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="IdempotencyState")


@_attrs_define
class IdempotencyState:
    """What a stream remembers of idempotency keys."""

    duration_s: int
    """ How long a key is remembered, in seconds. """
    maxsize: int
    """ How many keys are remembered for each producer. """
    producers: int
    """ Producers remembered now. """
    keys: int
    """ Keys remembered now. """
    keys_added: int
    """ Keys ever remembered. """
    duplicates: int
    """ Appends that were answered from memory. """

    def to_dict(self) -> dict[str, Any]:
        duration_s = self.duration_s

        maxsize = self.maxsize

        producers = self.producers

        keys = self.keys

        keys_added = self.keys_added

        duplicates = self.duplicates

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "duration_s": duration_s,
                "maxsize": maxsize,
                "producers": producers,
                "keys": keys,
                "keys_added": keys_added,
                "duplicates": duplicates,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        duration_s = d.pop("duration_s")

        maxsize = d.pop("maxsize")

        producers = d.pop("producers")

        keys = d.pop("keys")

        keys_added = d.pop("keys_added")

        duplicates = d.pop("duplicates")

        idempotency_state = cls(
            duration_s=duration_s,
            maxsize=maxsize,
            producers=producers,
            keys=keys,
            keys_added=keys_added,
            duplicates=duplicates,
        )

        return idempotency_state
