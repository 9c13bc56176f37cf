from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.slow_command_sizes_type_0 import SlowCommandSizesType0


T = TypeVar("T", bound="SlowCommand")


@_attrs_define
class SlowCommand:
    """A command in the slow log: its names and sizes, without values and ids."""

    command: str
    """ The command's name, as in Redis, in lower case. """
    keys: list[str] | None
    """ The first eight streams that the command names; bytes that are not UTF-8 are `\\xNN`. """
    group: None | str
    """ The consumer group that the command names. """
    sizes: None | SlowCommandSizesType0
    """ Sizes of the command: `entries` and their `bytes`, `ids`, `keys`, and the `count` asked for. """

    def to_dict(self) -> dict[str, Any]:
        from ..models.slow_command_sizes_type_0 import SlowCommandSizesType0  # noqa: PLC0415

        command = self.command

        keys: list[str] | None
        if isinstance(self.keys, list):
            keys = self.keys

        else:
            keys = self.keys

        group: None | str
        group = self.group

        sizes: dict[str, Any] | None
        if isinstance(self.sizes, SlowCommandSizesType0):
            sizes = self.sizes.to_dict()
        else:
            sizes = self.sizes

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "command": command,
                "keys": keys,
                "group": group,
                "sizes": sizes,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.slow_command_sizes_type_0 import SlowCommandSizesType0  # noqa: PLC0415

        d = dict(src_dict)
        command = d.pop("command")

        def _parse_keys(data: object) -> list[str] | None:
            if data is None:
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                keys_type_0 = cast(list[str], data)

                return keys_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None, data)

        keys = _parse_keys(d.pop("keys", None))

        def _parse_group(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        group = _parse_group(d.pop("group", None))

        def _parse_sizes(data: object) -> None | SlowCommandSizesType0:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                sizes_type_0 = SlowCommandSizesType0.from_dict(data)

                return sizes_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | SlowCommandSizesType0, data)

        sizes = _parse_sizes(d.pop("sizes", None))

        slow_command = cls(
            command=command,
            keys=keys,
            group=group,
            sizes=sizes,
        )

        return slow_command
