"""Wire models of streams as wholes: settings, positions, what they hold."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from tailrace.api.schemas.base import Count, EntryId, NameEncodingField, WireModel
from tailrace.api.schemas.entries import ENTRY_EXAMPLE, LAST_ENTRY_EXAMPLE, Entry
from tailrace.api.schemas.groups import GroupDetail
from tailrace.core.limits import IDMP_DURATION_S_MAX, IDMP_MAXSIZE_MAX


class StreamSettings(WireModel):
    """A stream's own settings; what is not named stays as it is."""

    model_config = ConfigDict(json_schema_extra={"example": {"idmp_duration_s": 300, "idmp_maxsize": 1000}})

    idmp_duration_s: Annotated[int, Field(ge=1, le=IDMP_DURATION_S_MAX)] | None = Field(
        None, description="How long an idempotency key is remembered, in seconds.", examples=[300]
    )
    idmp_maxsize: Annotated[int, Field(ge=1, le=IDMP_MAXSIZE_MAX)] | None = Field(
        None, description="How many idempotency keys are remembered for each producer.", examples=[1000]
    )


class StreamCreated(WireModel):
    """The stream that now stands."""

    model_config = ConfigDict(json_schema_extra={"example": {"key": "race:france", "created": True}})

    key: str = Field(description="The stream's key.", examples=["race:france"])
    encoding: NameEncodingField = None
    created: bool = Field(description="Whether it is new.", examples=[True])


class PositionBody(WireModel):
    """A stream's counters, set by hand."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"last_id": "1692632200000-0", "entries_added": 4}}
    )

    last_id: str = Field(description="The last id; new ids will be above it.", examples=["1692632200000-0"])
    entries_added: Count | None = Field(None, description="Entries ever added.", examples=[4])
    max_deleted_id: str | None = Field(
        None, description="The greatest id ever deleted.", examples=["1692632086370-0"]
    )


class StreamLengthReply(WireModel):
    """How many entries a stream holds."""

    model_config = ConfigDict(json_schema_extra={"example": {"length": 3}})

    length: int = Field(description="Entries in the stream.", examples=[3])


class StreamItem(WireModel):
    """A stream in a listing."""

    key: str = Field(description="The stream's key.", examples=["race:france"])
    encoding: NameEncodingField = None
    length: int = Field(description="Entries in the stream.", examples=[3])
    last_id: str = Field(description="The last id ever generated.", examples=["1692632102976-0"])
    groups: int = Field(description="Consumer groups of the stream.", examples=[1])


class StreamPage(WireModel):
    """A page of streams, in byte order of their keys."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "streams": [{"key": "race:france", "length": 3, "last_id": "1692632102976-0", "groups": 1}],
                "next": None,
            }
        }
    )

    streams: list[StreamItem] = Field(
        description="The streams.",
        examples=[[{"key": "race:france", "length": 3, "last_id": "1692632102976-0", "groups": 1}]],
    )
    next: str | None = Field(
        description="`start_after` of the next page; null where this is the last.", examples=["race:france"]
    )
    encoding: NameEncodingField = None


class IdempotencyState(WireModel):
    """What a stream remembers of idempotency keys."""

    duration_s: int = Field(description="How long a key is remembered, in seconds.", examples=[100])
    maxsize: int = Field(description="How many keys are remembered for each producer.", examples=[100])
    producers: int = Field(description="Producers remembered now.", examples=[0])
    keys: int = Field(description="Keys remembered now.", examples=[0])
    keys_added: int = Field(description="Keys ever remembered.", examples=[0])
    duplicates: int = Field(description="Appends that were answered from memory.", examples=[0])


IDEMPOTENCY_EXAMPLE: Final[JsonDict] = {
    "duration_s": 100,
    "maxsize": 100,
    "producers": 0,
    "keys": 0,
    "keys_added": 0,
    "duplicates": 0,
}


STATE_EXAMPLE: Final[JsonDict] = {
    "key": "race:france",
    "length": 3,
    "first_id": "1692632086370-0",
    "last_id": "1692632102976-0",
    "max_deleted_id": "0-0",
    "entries_added": 3,
    "recorded_first_id": "1692632086370-0",
    "groups": 1,
    "blocks": 1,
    "idempotency": IDEMPOTENCY_EXAMPLE,
    "first_entry": ENTRY_EXAMPLE,
    "last_entry": LAST_ENTRY_EXAMPLE,
}


class StreamState(WireModel):
    """A stream as a whole."""

    model_config = ConfigDict(json_schema_extra={"example": STATE_EXAMPLE})

    key: str = Field(description="The stream's key.", examples=["race:france"])
    encoding: NameEncodingField = None
    length: int = Field(description="Entries in the stream.", examples=[3])
    first_id: str | None = Field(
        description="Id of the first entry; null where the stream is empty.", examples=["1692632086370-0"]
    )
    last_id: EntryId
    max_deleted_id: str = Field(description="The greatest id ever deleted; `0-0` for none.", examples=["0-0"])
    entries_added: int = Field(description="Entries ever added.", examples=[3])
    recorded_first_id: str = Field(
        description="The first id as the lag is counted from it; `0-0` where the stream is empty.",
        examples=["1692632086370-0"],
    )
    groups: int = Field(description="Consumer groups of the stream.", examples=[1])
    blocks: int = Field(description="Blocks that hold the entries.", examples=[1])
    idempotency: IdempotencyState = Field(
        description="What the stream remembers of idempotency keys.", examples=[IDEMPOTENCY_EXAMPLE]
    )
    first_entry: Entry | None = Field(description="The first entry; null for none.", examples=[ENTRY_EXAMPLE])
    last_entry: Entry | None = Field(description="The last entry; null for none.", examples=[ENTRY_EXAMPLE])
    entries: list[Entry] | None = Field(
        None, description="The first `count` entries; only with `full=true`.", examples=[[ENTRY_EXAMPLE]]
    )
    group_details: list[GroupDetail] | None = Field(
        None,
        description="Each group with its pending entries; only with `full=true`.",
        examples=[[]],
    )
