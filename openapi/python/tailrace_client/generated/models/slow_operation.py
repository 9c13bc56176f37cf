from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.slow_command import SlowCommand


T = TypeVar("T", bound="SlowOperation")


@_attrs_define
class SlowOperation:
    """An operation that took the server long. What it waited as asked counts as nothing."""

    id: int
    """ Rises by one with each; it begins anew with the process. """
    at_ms: int
    """ When it ended, Unix time. """
    operation: str
    """ The operation's id in this document; or `websocket`, `subscription` or `waiting_reader` for what sockets and
    waiting reads had done, or `tick` for the server itself. """
    request_id: None | str
    """ The request's id, as in the log and the answer; null where it was no request. """
    engine_ms: float
    """ The engine's part: all others waited as well. """
    commit_ms: float
    """ Waiting for the disk; it does not count as slow. """
    other_ms: float
    """ The rest: parsing, waiting for its turn, and making the answer. """
    command_count: int
    """ How many commands it had carried out together. """
    commands: list[SlowCommand]
    """ The first eight of them. """

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        at_ms = self.at_ms

        operation = self.operation

        request_id: None | str
        request_id = self.request_id

        engine_ms = self.engine_ms

        commit_ms = self.commit_ms

        other_ms = self.other_ms

        command_count = self.command_count

        commands = []
        for commands_item_data in self.commands:
            commands_item = commands_item_data.to_dict()
            commands.append(commands_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "id": id,
                "at_ms": at_ms,
                "operation": operation,
                "request_id": request_id,
                "engine_ms": engine_ms,
                "commit_ms": commit_ms,
                "other_ms": other_ms,
                "command_count": command_count,
                "commands": commands,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.slow_command import SlowCommand  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        at_ms = d.pop("at_ms")

        operation = d.pop("operation")

        def _parse_request_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        request_id = _parse_request_id(d.pop("request_id"))

        engine_ms = d.pop("engine_ms")

        commit_ms = d.pop("commit_ms")

        other_ms = d.pop("other_ms")

        command_count = d.pop("command_count")

        commands = []
        _commands = d.pop("commands")
        for commands_item_data in _commands:
            commands_item = SlowCommand.from_dict(commands_item_data)

            commands.append(commands_item)

        slow_operation = cls(
            id=id,
            at_ms=at_ms,
            operation=operation,
            request_id=request_id,
            engine_ms=engine_ms,
            commit_ms=commit_ms,
            other_ms=other_ms,
            command_count=command_count,
            commands=commands,
        )

        return slow_operation
