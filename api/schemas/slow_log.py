"""Wire models of the slow log."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from tailrace.api.schemas.base import WireModel


class SlowCommand(WireModel):
    """A command in the slow log: its names and sizes, without values and ids."""

    command: str = Field(description="The command's name, as in Redis, in lower case.", examples=["xadd"])
    keys: list[str] | None = Field(
        default=None,
        description="The first eight streams that the command names; bytes that are not UTF-8 are `\\xNN`.",
        examples=[["race:france"]],
    )
    group: str | None = Field(
        default=None, description="The consumer group that the command names.", examples=["france_riders"]
    )
    sizes: dict[str, int] | None = Field(
        default=None,
        description="Sizes of the command: `entries` and their `bytes`, `ids`, `keys`, and the `count` "
        "asked for.",
        examples=[{"entries": 1000, "bytes": 61000}],
    )


class SlowOperation(WireModel):
    """A slow operation. Waiting that the request asks for, such as `wait_ms`, does not count."""

    id: int = Field(
        description="The number of the operation in the slow log. It increases by one, and starts at 1 "
        "with the process.",
        examples=[7],
    )
    at_ms: int = Field(
        description="The time when the operation ended, in Unix milliseconds.", examples=[1795180211331]
    )
    operation: str = Field(
        description="The operation's id in this document; or `websocket`, `subscription` or "
        "`waiting_reader` for the work of WebSockets and waiting reads, or `tick` for the server's own work.",
        examples=["import_entries"],
    )
    request_id: str | None = Field(
        description="The id of the request, as in the log and the response; null if there was no request.",
        examples=["c02051d26e634ba9af4eea1f243a0353"],
    )
    engine_ms: float = Field(
        description="Milliseconds in the engine; other requests wait during this time.", examples=[14.2]
    )
    commit_ms: float = Field(
        description="Milliseconds of waiting for the disk; they do not count towards the threshold.",
        examples=[1.9],
    )
    other_ms: float = Field(
        description="Milliseconds of everything else: parsing, queueing, and writing the response.",
        examples=[9.7],
    )
    command_count: int = Field(description="How many commands the operation ran.", examples=[1])
    commands: list[SlowCommand] = Field(
        description="The first eight commands.",
        examples=[[{"command": "xadd", "keys": ["race:france"], "sizes": {"entries": 1000, "bytes": 61000}}]],
    )


class SlowLogPage(WireModel):
    """The most recent slow operations, newest first."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "threshold_ms": 10,
                "capacity": 128,
                "operations": [
                    {
                        "id": 7,
                        "at_ms": 1795180211331,
                        "operation": "import_entries",
                        "request_id": "c02051d26e634ba9af4eea1f243a0353",
                        "engine_ms": 14.2,
                        "commit_ms": 1.9,
                        "other_ms": 9.7,
                        "command_count": 1,
                        "commands": [
                            {
                                "command": "xadd",
                                "keys": ["race:france"],
                                "sizes": {"entries": 1000, "bytes": 61000},
                            }
                        ],
                    }
                ],
            }
        }
    )

    threshold_ms: int = Field(
        description="Milliseconds of the server's own time from which on an operation is recorded. 0 "
        "records all operations, -1 none.",
        examples=[10],
    )
    capacity: int = Field(description="How many operations the log keeps.", examples=[128])
    operations: list[SlowOperation] = Field(description="The operations, newest first.", examples=[[]])
