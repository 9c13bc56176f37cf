"""Wire models of reads over one or several streams."""

from __future__ import annotations

from typing import Annotated, Final, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic.config import JsonDict

from tailrace.api.schemas.base import I64_MAX, Milliseconds, NameEncodingField, WireModel
from tailrace.api.schemas.entries import ENTRY_EXAMPLE, LAST_ENTRY_EXAMPLE, Entry
from tailrace.core.limits import PAGE_ENTRIES_MAX, READ_STREAMS_MAX, WAIT_MS_MAX

DELIVERED_EXAMPLE: Final[JsonDict] = {**LAST_ENTRY_EXAMPLE, "idle_ms": 0, "deliveries": 0}


class ReadPosition(WireModel):
    """A stream and where to read it from."""

    key: str = Field(description="The stream's key.", examples=["race:france"])
    encoding: NameEncodingField = None
    after: str = Field(
        description=(
            "Entries after this id; `$`: only what comes from now on; `+`: from the last entry there is."
        ),
        examples=["$"],
    )


class GroupReadPosition(WireModel):
    """A stream, and what of it."""

    key: str = Field(description="The stream's key.", examples=["race:france"])
    encoding: NameEncodingField = None
    id: str = Field(
        ">",
        description=(
            "`>`: entries never delivered to the group. An id: the consumer's own pending entries after it."
        ),
        examples=[">"],
    )


class ReadBounds(WireModel):
    """How much one read may return, and how long it may wait."""

    count: Annotated[int, Field(ge=1, le=PAGE_ENTRIES_MAX)] | None = Field(
        None, description="The most entries of each stream.", examples=[100]
    )
    max_count: Annotated[int, Field(ge=1, le=PAGE_ENTRIES_MAX)] | None = Field(
        None, description="The most entries over all streams; not less than `count`.", examples=[500]
    )
    max_bytes: Annotated[int, Field(ge=1, le=I64_MAX)] | None = Field(
        None,
        description=(
            "Stop once the reply has this size, or `page_bytes_max` if less; the first entry always fits."
        ),
        examples=[1048576],
    )
    wait_ms: Annotated[int, Field(ge=0, le=WAIT_MS_MAX)] | None = Field(
        None,
        description=(
            "How long to wait for entries where there are none; 0 by default. `Prefer: wait=N` is seconds."
        ),
        examples=[0],
    )

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
        description="The streams, answered in this order.",
        examples=[[{"key": "race:france", "after": "$"}]],
    )
    strict: bool = Field(
        False,
        description="Refuse (410) where entries after the position were trimmed away.",
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

    group: str = Field(description="The group; it must exist on all streams.", examples=["judges"])
    consumer: str = Field(description="The consumer; created if new.", examples=["alice"])
    encoding: NameEncodingField = None
    streams: list[GroupReadPosition] = Field(
        min_length=1,
        max_length=READ_STREAMS_MAX,
        description="The streams, answered in this order.",
        examples=[[{"key": "race:france", "id": ">"}]],
    )
    claim_min_idle_ms: Milliseconds | None = Field(
        None,
        description=(
            "First take over what has been pending for anyone at least this long, then new entries. "
            "`count` bounds both together for each stream, `max_count` over all streams."
        ),
        examples=[60000],
    )
    noack: bool = Field(
        False, description="New entries do not become pending: they need no acknowledgment.", examples=[False]
    )


class StreamSlice(WireModel):
    """What one stream gave."""

    key: str = Field(description="The stream's key.", examples=["race:france"])
    encoding: NameEncodingField = None
    entries: list[Entry] = Field(description="The entries, oldest first.", examples=[[ENTRY_EXAMPLE]])
    next: str = Field(description="`after` of the next read, `$` resolved.", examples=["1692632102976-0"])


class ReadPage(WireModel):
    """Every stream that was asked for, in that order, with or without entries."""

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

    streams: list[StreamSlice] = Field(description="The streams.", examples=[[]])


class DeliveredEntry(Entry):
    """An entry as a group is given it; a pending one whose message was deleted has no fields."""

    model_config = ConfigDict(json_schema_extra={"example": DELIVERED_EXAMPLE})

    deleted: bool | None = Field(
        None, description="True where it was deleted while pending; absent otherwise.", examples=[True]
    )
    idle_ms: int = Field(
        description="Milliseconds between its last delivery and this one; 0 for a new entry.", examples=[0]
    )
    deliveries: int = Field(description="How often it was delivered before; 0 for a new entry.", examples=[0])


class GroupStreamSlice(WireModel):
    """What one stream gave to a group's consumer."""

    key: str = Field(description="The stream's key.", examples=["race:france"])
    encoding: NameEncodingField = None
    entries: list[DeliveredEntry] = Field(
        description="Claimed entries first, then new ones.", examples=[[DELIVERED_EXAMPLE]]
    )
    next: str = Field(
        description="The last id returned, or the position where nothing was; for reading one's history on.",
        examples=["1692632102976-0"],
    )


class GroupReadPage(WireModel):
    """Every stream that was asked for, in that order, with or without entries."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "streams": [{"key": "race:france", "entries": [DELIVERED_EXAMPLE], "next": "1692632102976-0"}]
            }
        }
    )

    streams: list[GroupStreamSlice] = Field(description="The streams.", examples=[[]])
