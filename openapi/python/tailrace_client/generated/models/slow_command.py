from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.slow_command_sizes import SlowCommandSizes


T = TypeVar("T", bound="SlowCommand")


@_attrs_define
class SlowCommand:
    """A command in the slow log: its names and sizes, without values and ids."""

    command: str
    """ The command's name, as in Redis, in lower case. """
    keys: list[str] | Unset = UNSET
    """ The first eight streams that the command names; bytes that are not UTF-8 are `\\xNN`. """
    group: str | Unset = UNSET
    """ The consumer group that the command names. """
    sizes: SlowCommandSizes | Unset = UNSET
    """ Sizes of the command: `entries` and their `bytes`, `ids`, `keys`, and the `count` asked for. """

    def to_dict(self) -> dict[str, Any]:
        command = self.command

        keys: list[str] | Unset = UNSET
        if not isinstance(self.keys, Unset):
            keys = self.keys

        group = self.group

        sizes: dict[str, Any] | Unset = UNSET
        if not isinstance(self.sizes, Unset):
            sizes = self.sizes.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "command": command,
            }
        )
        if keys is not UNSET:
            field_dict["keys"] = keys
        if group is not UNSET:
            field_dict["group"] = group
        if sizes is not UNSET:
            field_dict["sizes"] = sizes

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.slow_command_sizes import SlowCommandSizes  # noqa: PLC0415

        d = dict(src_dict)
        command = d.pop("command")

        keys = cast(list[str], d.pop("keys", UNSET))

        group = d.pop("group", UNSET)

        _sizes = d.pop("sizes", UNSET)
        sizes: SlowCommandSizes | Unset
        if isinstance(_sizes, Unset):
            sizes = UNSET
        else:
            sizes = SlowCommandSizes.from_dict(_sizes)

        slow_command = cls(
            command=command,
            keys=keys,
            group=group,
            sizes=sizes,
        )

        return slow_command
