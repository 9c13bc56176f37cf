from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="EpochState")


@_attrs_define
class EpochState:
    """An epoch of a producer."""

    epoch: int
    """ The number of the epoch. """
    layout: None | str
    """ The layout of the epoch (`Producer-Layout`); null if no request named one. """
    keys: int
    """ How many idempotency keys the epoch has. """

    def to_dict(self) -> dict[str, Any]:
        epoch = self.epoch

        layout: None | str
        layout = self.layout

        keys = self.keys

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "epoch": epoch,
                "layout": layout,
                "keys": keys,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        epoch = d.pop("epoch")

        def _parse_layout(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        layout = _parse_layout(d.pop("layout", None))

        keys = d.pop("keys")

        epoch_state = cls(
            epoch=epoch,
            layout=layout,
            keys=keys,
        )

        return epoch_state
