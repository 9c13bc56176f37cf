"""Wire models of reads from one or several streams, with or without a consumer group."""

from __future__ import annotations

from typing import Annotated, Final, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic.config import JsonDict

from tailrace.api.schemas.base import (
    I64_MAX,
    INCARNATION_EXAMPLE,
    POSITION_INCARNATION,
    IncarnationField,
    Milliseconds,
    NameEncodingField,
    WireModel,
)
from tailrace.api.schemas.entries import ENTRY_EXAMPLE, LAST_ENTRY_EXAMPLE, Entry
from tailrace.core.limits import PAGE_ENTRIES_MAX, READ_ENTRIES_MAX, READ_STREAMS_MAX, WAIT_MS_MAX

DELIVERED_EXAMPLE: Final[JsonDict] = {**LAST_ENTRY_EXAMPLE, "idle_ms": 0, "deliveries": 0}


class ReadPosition(WireModel):
    """A stream, and the position after which to read it."""

    key: str = Field(description="The stream's key.", examples=["race:france"])
    encoding: NameEncodingField = None
    after: str = Field(
        description=(
            "Return entries after this id. `$`: only entries appended from now on. `+`: from the last "
            "entry on."
        ),
        examples=["$"],
    )
    incarnation: str | None = Field(
        None,
        description=f"{POSITION_INCARNATION} With it, the stream in the response has its `incarnation`.",
        examples=[INCARNATION_EXAMPLE],
    )


class GroupReadPosition(WireModel):
    """A stream, and which entries of it to read."""

    key: str = Field(description="The stream's key.", examples=["race:france"])
    encoding: NameEncodingField = None
    id: str = Field(
        ">",
        description=(
            "`>`: entries not yet delivered to the group. An id: the consumer's own pending entries after it."
        ),
        examples=[">"],
    )


class ReadBounds(WireModel):
    """Limits of one read: how many entries and bytes it returns, and how long it waits."""

    count: Annotated[int, Field(ge=1, le=PAGE_ENTRIES_MAX)] | None = Field(
        None, description="How many entries to return from each stream at most.", examples=[100]
    )
    max_count: Annotated[int, Field(ge=1, le=PAGE_ENTRIES_MAX)] | None = Field(
        None,
        description="How many entries to return from all streams together at most; at least `count`.",
        examples=[500],
    )
    max_bytes: Annotated[int, Field(ge=1, le=I64_MAX)] | None = Field(
        None,
        description=(
            "The reply ends at this size in bytes, or at `page_bytes_max` if that is smaller. The first "
            "entry is always returned."
        ),
        examples=[1048576],
    )
    wait_ms: Annotated[int, Field(ge=0, le=WAIT_MS_MAX)] | None = Field(
        None,
        description=(
            "How many milliseconds to wait if there are no entries; 0 by default. `Prefer: wait=N` also sets "
            "it, in seconds."
        ),
        examples=[0],
    )

    min_count: Annotated[int, Field(ge=1, le=READ_ENTRIES_MAX)] | None = Field(
        None,
        description=(
            "While waiting, gather entries: respond when this many of all streams together are available, "
            "or after `linger_ms`, or at the end of `wait_ms`. 1 by default."
        ),
        examples=[100],
    )
    linger_ms: Annotated[int, Field(ge=0, le=WAIT_MS_MAX)] | None = Field(
        None,
        description=(
            "With `min_count`: wait at most this many milliseconds after the first entry is available. "
            "Without it: until the end of `wait_ms`."
        ),
        examples=[200],
    )

    @model_validator(mode="after")
    def _gathers_what_it_returns(self) -> Self:
        if self.linger_ms is not None and self.min_count is None:
            raise ValueError("`linger_ms` needs `min_count`")
        if self.min_count is not None and self.min_count > (self.max_count or self.min_count):
            raise ValueError("`min_count` must be at most `max_count`")
        return self

    @model_validator(mode="after")
    def _budget_holds_count(self) -> Self:
        if self.count is not None and self.max_count is not None and self.max_count < self.count:
            raise ValueError("`max_count` must be greater than or equal to `count`")
        return self


class ReadBody(ReadBounds):
    """A read of one or several streams."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"streams": [{"key": "race:france", "after": "1692632094485-0"}], "count": 100}
        }
    )

    streams: list[ReadPosition] = Field(
        min_length=1,
        max_length=READ_STREAMS_MAX,
        description="The streams; the response has the same order.",
        examples=[[{"key": "race:france", "after": "$"}]],
    )
    strict: bool = Field(
        False,
        description="Fail with 410 if entries after the position were trimmed.",
        examples=[False],
    )


class GroupReadBody(ReadBounds):
    """A read by one consumer of a group."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "group": "judges",
                "consumer": "alice",
                "streams": [{"key": "race:france", "id": ">"}],
                "count": 100,
            }
        }
    )

    group: str = Field(
        description="The consumer group; it must exist on all of the streams.", examples=["judges"]
    )
    consumer: str = Field(description="The consumer; created if it does not exist.", examples=["alice"])
    encoding: NameEncodingField = None
    streams: list[GroupReadPosition] = Field(
        min_length=1,
        max_length=READ_STREAMS_MAX,
        description="The streams; the response has the same order.",
        examples=[[{"key": "race:france", "id": ">"}]],
    )
    claim_min_idle_ms: Milliseconds | None = Field(
        None,
        description=(
            "First claim entries that have been pending for any consumer at least this many milliseconds, "
            "then read new entries. `count` limits both together for each stream, `max_count` for all "
            "streams."
        ),
        examples=[60000],
    )
    noack: bool = Field(
        False,
        description="New entries do not become pending, so they need no acknowledgment.",
        examples=[False],
    )


class StreamSlice(WireModel):
    """The entries of one stream. It has `incarnation` only if its position in the request had one."""

    key: str = Field(description="The stream's key.", examples=["race:france"])
    encoding: NameEncodingField = None
    entries: list[Entry] = Field(description="The entries, oldest first.", examples=[[ENTRY_EXAMPLE]])
    next: str = Field(
        description="The position for `after` of the next read; always an id, also if `after` was `$`.",
        examples=["1692632102976-0"],
    )
    incarnation: IncarnationField = None


class ReadPage(WireModel):
    """All streams of the request, in the same order, including streams without new entries."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "streams": [
                    {
                        "key": "race:france",
                        "entries": [LAST_ENTRY_EXAMPLE],
                        "next": "1692632102976-0",
                    }
                ]
            }
        }
    )

    streams: list[StreamSlice] = Field(description="The streams of the request.", examples=[[]])


class DeliveredEntry(Entry):
    """An entry as a consumer receives it. A pending entry that was deleted from the stream has no fields."""

    model_config = ConfigDict(json_schema_extra={"example": DELIVERED_EXAMPLE})

    deleted: bool | None = Field(
        None,
        description="True if the entry was deleted from the stream while it was pending; otherwise absent.",
        examples=[True],
    )
    idle_ms: int = Field(
        description="Milliseconds between the previous delivery and this one; 0 for a new entry.",
        examples=[0],
    )
    deliveries: int = Field(
        description="How often the entry was delivered before; 0 for a new entry.", examples=[0]
    )


class GroupStreamSlice(WireModel):
    """The entries that a consumer receives from one stream."""

    key: str = Field(description="The stream's key.", examples=["race:france"])
    encoding: NameEncodingField = None
    entries: list[DeliveredEntry] = Field(
        description="Claimed entries first, then new ones.", examples=[[DELIVERED_EXAMPLE]]
    )
    next: str = Field(
        description="The last id returned, or the requested position if no entry was returned. To continue "
        "reading the consumer's own pending entries, send it as `id`.",
        examples=["1692632102976-0"],
    )


class GroupReadPage(WireModel):
    """All streams of the request, in the same order, including streams without new entries."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "streams": [{"key": "race:france", "entries": [DELIVERED_EXAMPLE], "next": "1692632102976-0"}]
            }
        }
    )

    streams: list[GroupStreamSlice] = Field(description="The streams of the request.", examples=[[]])
