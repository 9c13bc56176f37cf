"""Wire models of the state of the whole server."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from tailrace.api.schemas.base import NameEncodingField, WireModel
from tailrace.api.schemas.limits import Limits
from tailrace.api.schemas.server_process import (
    CONNECTIONS_EXAMPLE,
    MEMORY_EXAMPLE,
    STORAGE_EXAMPLE,
    ConnectionsState,
    EngineNode,
    MemoryState,
    StorageState,
)
from tailrace.api.schemas.slow_log import SlowLogPage


def _example(example: JsonDict) -> ConfigDict:
    return ConfigDict(json_schema_extra={"example": example})


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
