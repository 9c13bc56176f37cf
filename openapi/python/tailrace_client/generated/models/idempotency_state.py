from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="IdempotencyState")


@_attrs_define
class IdempotencyState:
    """The idempotency keys that a stream remembers."""

    duration_s: int
    """ How long the stream remembers a key, in seconds. """
    maxsize: int
    """ How many keys the stream remembers for each producer. """
    producers: int
    """ How many producers the stream remembers now. """
    keys: int
    """ How many keys the stream remembers now. """
    keys_added: int
    """ How many keys were ever remembered. """
    duplicates: int
    """ How many appends were repetitions: the stream returned the first result and appended nothing. """

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
