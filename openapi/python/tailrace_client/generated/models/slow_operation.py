from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.slow_command import SlowCommand


T = TypeVar("T", bound="SlowOperation")


@_attrs_define
class SlowOperation:
    """A slow operation. Waiting that the request asks for, such as `wait_ms`, does not count."""

    id: int
    """ The number of the operation in the slow log. It increases by one, and starts at 1 with the process. """
    at_ms: int
    """ The time when the operation ended, in Unix milliseconds. """
    operation: str
    """ The operation's id in this document; or `websocket`, `subscription` or `waiting_reader` for the work of
    WebSockets and waiting reads, or `tick` for the server's own work. """
    request_id: None | str
    """ The id of the request, as in the log and the response; null if there was no request. """
    engine_ms: float
    """ Milliseconds in the engine; other requests wait during this time. """
    commit_ms: float
    """ Milliseconds of waiting for the disk; they do not count towards the threshold. """
    other_ms: float
    """ Milliseconds of everything else: parsing, queueing, and writing the response. """
    command_count: int
    """ How many commands the operation ran. """
    commands: list[SlowCommand]
    """ The first eight commands. """

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

        request_id = _parse_request_id(d.pop("request_id", None))

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
