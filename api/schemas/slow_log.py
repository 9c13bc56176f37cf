"""Wire models of the slow log."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from tailrace.api.schemas.base import WireModel


class SlowCommand(WireModel):
    """One command as it is kept: what it named and how large it was; no value, no id."""

    command: str = Field(description="The command's name, as in Redis, in lower case.", examples=["xadd"])
    keys: list[str] | None = Field(
        default=None,
        description="The streams that it named, the first eight; bytes that are not UTF-8 as `\\xNN`.",
        examples=[["race:france"]],
    )
    group: str | None = Field(default=None, description="The group.", examples=["france_riders"])
    sizes: dict[str, int] | None = Field(
        default=None,
        description="How large: `entries` and their `bytes`, `ids`, `keys`, and the `count` asked for.",
        examples=[{"entries": 1000, "bytes": 61000}],
    )


class SlowOperation(WireModel):
    """An operation that took the server long. What it waited as asked counts as nothing."""

    id: int = Field(description="Rises by one with each; it begins anew with the process.", examples=[7])
    at_ms: int = Field(description="When it ended, Unix time.", examples=[1795180211331])
    operation: str = Field(
        description="The operation's id in this document; or `websocket`, `subscription` or `waiting_reader` "
        "for what sockets and waiting reads had done, or `tick` for the server itself.",
        examples=["import_entries"],
    )
    request_id: str | None = Field(
        description="The request's id, as in the log and the answer; null where it was no request.",
        examples=["c02051d26e634ba9af4eea1f243a0353"],
    )
    engine_ms: float = Field(description="The engine's part: all others waited as well.", examples=[14.2])
    commit_ms: float = Field(description="Waiting for the disk; it does not count as slow.", examples=[1.9])
    other_ms: float = Field(
        description="The rest: parsing, waiting for its turn, and making the answer.", examples=[9.7]
    )
    command_count: int = Field(description="How many commands it had carried out together.", examples=[1])
    commands: list[SlowCommand] = Field(
        description="The first eight of them.",
        examples=[[{"command": "xadd", "keys": ["race:france"], "sizes": {"entries": 1000, "bytes": 61000}}]],
    )


class SlowLogPage(WireModel):
    """The last slow operations, the newest first."""

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
        description="From how many milliseconds of the server's own time on an operation is noted; 0: all, "
        "-1: none.",
        examples=[10],
    )
    capacity: int = Field(description="How many are kept.", examples=[128])
    operations: list[SlowOperation] = Field(description="The newest first.", examples=[[]])
