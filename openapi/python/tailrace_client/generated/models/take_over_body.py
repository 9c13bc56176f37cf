from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="TakeOverBody")


@_attrs_define
class TakeOverBody:
    """The epoch to take over, as it must be now, and its new layout.

    Example:
        {'epoch': 1, 'replaces': '4 partitions', 'layout': '4 partitions; run 2', 'keys': 1}

    """

    epoch: int
    """ The number of the epoch. """
    replaces: str
    """ The layout that the epoch must have now. """
    layout: str
    """ The new layout. """
    keys: int
    """ How many idempotency keys the epoch must have now. """

    def to_dict(self) -> dict[str, Any]:
        epoch = self.epoch

        replaces = self.replaces

        layout = self.layout

        keys = self.keys

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "epoch": epoch,
                "replaces": replaces,
                "layout": layout,
                "keys": keys,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        epoch = d.pop("epoch")

        replaces = d.pop("replaces")

        layout = d.pop("layout")

        keys = d.pop("keys")

        take_over_body = cls(
            epoch=epoch,
            replaces=replaces,
            layout=layout,
            keys=keys,
        )

        return take_over_body
