"""Wire models of the server: its health, state and process, the nodes of a gateway, and the slow log."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from tailrace.api.schemas.base import NameEncodingField, WireModel
from tailrace.api.schemas.limits import Limits


def _example(example: JsonDict) -> ConfigDict:
    return ConfigDict(json_schema_extra={"example": example})


_NODE: Final[JsonDict] = {"address": "10.0.0.1:6379", "role": "master", "is_up": True}


class EngineNode(WireModel):
    """A node of the engine behind a gateway."""

    model_config = _example(_NODE)

    address: str = Field(description="The host and port of the node.", examples=["10.0.0.1:6379"])
    role: str = Field(description="`master` or `replica`.", examples=["master"])
    is_up: bool = Field(description="Whether the server has a connection to the node.", examples=[True])


MEMORY_EXAMPLE: Final[JsonDict] = {
    "resident_bytes": 61000000,
    "limit_bytes": None,
    "is_limit_reached": False,
    "cache_bytes": 1200000,
    "cache_max_bytes": 67633152,
}


class MemoryState(WireModel):
    """The memory of the process."""

    model_config = _example(MEMORY_EXAMPLE)

    resident_bytes: int = Field(description="The resident memory of the process.", examples=[61000000])
    limit_bytes: int | None = Field(
        description="The resident memory above which appends are refused; null for no limit.",
        examples=[1073741824],
    )
    is_limit_reached: bool = Field(description="Whether appends are refused now.", examples=[False])
    cache_bytes: int | None = Field(
        description="The memory of decoded blocks; null behind a gateway.", examples=[1200000]
    )
    cache_max_bytes: int | None = Field(
        description="The largest memory of decoded blocks; null behind a gateway.", examples=[67633152]
    )


CONNECTIONS_EXAMPLE: Final[JsonDict] = {
    "open": 3,
    "websockets": 1,
    "subscriptions": 2,
    "event_streams": 0,
    "waiting_readers": 2,
    "cut": {"header_timeout": 1},
}


class ConnectionsState(WireModel):
    """The clients of the server now."""

    model_config = _example(CONNECTIONS_EXAMPLE)

    open: int = Field(description="Open connections, including idle ones and WebSockets.", examples=[3])
    websockets: int = Field(description="Open WebSockets.", examples=[1])
    subscriptions: int = Field(description="Open subscriptions of all WebSockets.", examples=[2])
    event_streams: int = Field(description="Open streams of Server-Sent Events.", examples=[0])
    waiting_readers: int = Field(description="Reads that wait for entries.", examples=[2])
    cut: dict[str, int] = Field(
        description="Connections that the server closed because of a limit since the start, by reason.",
        examples=[{"header_timeout": 1}],
    )


_LATENCY: Final[JsonDict] = {"commits": 1000, "p50_ms": 0.41, "p99_ms": 1.93, "max_ms": 4.2}


class CommitLatency(WireModel):
    """The durations of the last commits: from the start of the transaction to the end of its sync."""

    model_config = _example(_LATENCY)

    commits: int = Field(description="How many commits these are, up to 1000.", examples=[1000])
    p50_ms: float | None = Field(
        description="Half of the commits took at most this long; null before the first.", examples=[0.41]
    )
    p99_ms: float | None = Field(
        description="99 of 100 commits took at most this long; null before the first.", examples=[1.93]
    )
    max_ms: float | None = Field(description="The longest commit; null before the first.", examples=[4.2])


STORAGE_EXAMPLE: Final[JsonDict] = {
    "data_bytes": 5200000,
    "disk_free_bytes": 41000000000,
    "journal_bytes": 310000,
    "commits": 15200,
    "commits_behind": 0,
    "checkpoints": 1,
    "has_failed": False,
    "commit_latency": _LATENCY,
}


class StorageState(WireModel):
    """The data directory of the server."""

    model_config = _example(STORAGE_EXAMPLE)

    data_bytes: int = Field(description="Size of the files in the data directory.", examples=[5200000])
    disk_free_bytes: int = Field(description="Free space on the disk.", examples=[41000000000])
    journal_bytes: int = Field(
        description="Size of the journal since the last checkpoint, uncompressed.", examples=[310000]
    )
    commits: int = Field(description="Commits since the data directory was created.", examples=[15200])
    commits_behind: int = Field(description="Commits that are not durable yet.", examples=[0])
    checkpoints: int = Field(description="Checkpoints since the start.", examples=[1])
    has_failed: bool = Field(
        description="Whether a commit failed. The server then refuses writes until it is restarted.",
        examples=[False],
    )
    commit_latency: CommitLatency = Field(description="The last commits.", examples=[_LATENCY])


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


_CONTENTS: Final[JsonDict] = {"streams": 12, "entries": 4096, "groups": 3, "pending_entries": 17}


class Contents(WireModel):
    """Everything that the server keeps, counted."""

    model_config = _example(_CONTENTS)

    streams: int = Field(description="Streams.", examples=[12])
    entries: int = Field(description="Entries of all streams.", examples=[4096])
    groups: int = Field(description="Consumer groups of all streams.", examples=[3])
    pending_entries: int = Field(description="Pending entries of all groups.", examples=[17])


_LARGE: Final[JsonDict] = {"key": "race:france", "bytes": 201, "length": 3}


class LargeStream(WireModel):
    """A stream with its size."""

    model_config = _example(_LARGE)

    key: str = Field(description="The stream's key.", examples=["race:france"])
    encoding: NameEncodingField = None
    bytes: int = Field(
        description="About how many bytes the entries take, most of them compressed.", examples=[201]
    )
    length: int = Field(description="How many entries the stream has.", examples=[3])


_ACT: Final[JsonDict] = {
    "at_ms": 1795180211331,
    "token_id": "3f9a0c27b1d4",
    "token": "operator",
    "operation": "delete_stream",
    "keys": ["race:italy"],
    "keys_count": 1,
    "outcome": "done",
    "request_id": "c02051d26e634ba9af4eea1f243a0353",
}


class AuditLine(WireModel):
    """An administrative act, allowed or denied. It never contains a token or a value."""

    model_config = _example(_ACT)

    at_ms: int = Field(description="When it happened, in Unix milliseconds.", examples=[1795180211331])
    token_id: str = Field(
        description="The id of the token; `local` if the server requires no tokens.",
        examples=["3f9a0c27b1d4"],
    )
    token: str = Field(description="The name of the token.", examples=["operator"])
    operation: str = Field(
        description="The operation's id in this document, or the name of a command.",
        examples=["delete_stream"],
    )
    keys: list[str] = Field(
        description="The first 20 streams that it concerns; bytes that are not UTF-8 are `\\xNN`. Empty for "
        "all streams, or none.",
        examples=[["race:italy"]],
    )
    keys_count: int = Field(description="How many streams it names.", examples=[1])
    outcome: str = Field(
        description="`done`, `denied`, an error code, or what happened to the token.", examples=["done"]
    )
    request_id: str | None = Field(
        description="The id of the request; null if there was none.",
        examples=["c02051d26e634ba9af4eea1f243a0353"],
    )


_AUDIT: Final[JsonDict] = {"capacity": 128, "acts": [_ACT]}


class AuditPage(WireModel):
    """The most recent lines of the audit log. The log of the process has all of them."""

    model_config = _example(_AUDIT)

    capacity: int = Field(description="How many lines the server keeps in memory.", examples=[128])
    acts: list[AuditLine] = Field(description="The lines, newest first.", examples=[[_ACT]])


_SLOW_LOG: Final[JsonDict] = {"threshold_ms": 10, "capacity": 128, "operations": []}
_LIMITS: Final[JsonDict] = {
    name: (field.examples or [None])[0] for name, field in Limits.model_fields.items()
}


class ServerState(WireModel):
    """The state of the whole server."""

    model_config = _example(
        {
            "version": "0.1.0",
            "started_at_ms": 1795180000000,
            "store": "disk",
            "durability": "always",
            "nodes": [],
            "memory": MEMORY_EXAMPLE,
            "connections": CONNECTIONS_EXAMPLE,
            "storage": STORAGE_EXAMPLE,
            "contents": _CONTENTS,
            "largest_streams": [_LARGE],
            "slow_log": _SLOW_LOG,
            "audit": _AUDIT,
            "limits": _LIMITS,
        }
    )

    version: str = Field(description="The version of the server.", examples=["0.1.0"])
    started_at_ms: int | None = Field(
        description="When the process started, in Unix milliseconds; null if it is not measured.",
        examples=[1795180000000],
    )
    store: Literal["disk", "memory", "engine"] = Field(
        description="Where the data is: `disk`, `memory`, or for a gateway `engine`: Redis or Valkey.",
        examples=["disk"],
    )
    durability: Literal["always", "interval", "none"] | None = Field(
        description="The option `--durability`; null behind a gateway.", examples=["always"]
    )
    nodes: list[EngineNode] = Field(
        description="The nodes of the engine behind a gateway, masters first.", examples=[[]]
    )
    memory: MemoryState | None = Field(
        description="The memory of the process; null if it is not measured.", examples=[MEMORY_EXAMPLE]
    )
    connections: ConnectionsState | None = Field(
        description="The clients; null if they are not counted.", examples=[CONNECTIONS_EXAMPLE]
    )
    storage: StorageState | None = Field(
        description="The data directory; null if the server has none.", examples=[STORAGE_EXAMPLE]
    )
    contents: Contents | None = Field(
        description="What the server keeps; null behind a gateway.", examples=[_CONTENTS]
    )
    largest_streams: list[LargeStream] = Field(
        description="The streams with the most bytes, the largest first. Empty behind a gateway.",
        examples=[[_LARGE]],
    )
    slow_log: SlowLogPage = Field(description="The most recent slow operations.", examples=[_SLOW_LOG])
    audit: AuditPage = Field(description="The most recent administrative acts.", examples=[_AUDIT])
    limits: Limits = Field(description="All limits, as `GET /v1/limits` shows them.", examples=[_LIMITS])


class Health(WireModel):
    """The server's process is running."""

    model_config = ConfigDict(json_schema_extra={"example": {"status": "ok"}})

    status: Literal["ok"] = Field(description="Always `ok`.", examples=["ok"])


class Readiness(WireModel):
    """The server accepts requests."""

    model_config = ConfigDict(json_schema_extra={"example": {"status": "ready"}})

    status: Literal["ready"] = Field(
        description="Always `ready`; a server that is not ready answers 503.", examples=["ready"]
    )
    warnings: list[str] | None = Field(
        default=None,
        description="What to change at the engine behind a gateway; missing if there is nothing.",
        examples=[["10.0.0.1:6379 loses entries if it crashes: its appendonly is no"]],
    )
