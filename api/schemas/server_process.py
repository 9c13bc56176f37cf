"""Wire models of the process of the server: its memory, connections, storage, and the nodes of a gateway."""

from __future__ import annotations

from typing import Final

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from tailrace.api.schemas.base import WireModel


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
