"""Wire models of whole streams: their settings, counters and state."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from tailrace.api.schemas.base import (
    INCARNATION_EXAMPLE,
    Count,
    EntryId,
    IncarnationField,
    NameEncodingField,
    WireModel,
)
from tailrace.api.schemas.entries import ENTRY_EXAMPLE, LAST_ENTRY_EXAMPLE, Entry
from tailrace.api.schemas.group_details import GroupDetail
from tailrace.api.schemas.retention import (
    RETENTION_EXAMPLE,
    RETENTION_STATE_EXAMPLE,
    RetentionBody,
    RetentionState,
)
from tailrace.core.limits import IDMP_DURATION_S_MAX, IDMP_MAXSIZE_MAX


class StreamSettings(WireModel):
    """The settings of a stream. Settings that are left out keep their value."""

    model_config = ConfigDict(json_schema_extra={"example": {"idmp_duration_s": 300, "idmp_maxsize": 1000}})

    idmp_duration_s: Annotated[int, Field(ge=1, le=IDMP_DURATION_S_MAX)] | None = Field(
        None, description="How long the stream remembers an idempotency key, in seconds.", examples=[300]
    )
    idmp_maxsize: Annotated[int, Field(ge=1, le=IDMP_MAXSIZE_MAX)] | None = Field(
        None, description="How many idempotency keys the stream remembers for each producer.", examples=[1000]
    )
    retention: RetentionBody | None = Field(
        None,
        description="The rules by which the server removes the oldest entries. They replace earlier rules; "
        "null removes all rules.",
        examples=[RETENTION_EXAMPLE],
    )


class StreamCreated(WireModel):
    """A stream that now exists, created or already there."""

    model_config = ConfigDict(json_schema_extra={"example": {"key": "race:france", "created": True}})

    key: str = Field(description="The stream's key.", examples=["race:france"])
    encoding: NameEncodingField = None
    created: bool = Field(
        description="True if the request created the stream, false if it existed already.", examples=[True]
    )


class PositionBody(WireModel):
    """New values for the counters of a stream."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"last_id": "1692632200000-0", "entries_added": 4}}
    )

    last_id: str = Field(
        description="The stream's new last id; later entries get greater ids.", examples=["1692632200000-0"]
    )
    entries_added: Count | None = Field(None, description="How many entries were ever added.", examples=[4])
    max_deleted_id: str | None = Field(
        None, description="The greatest id that was ever deleted.", examples=["1692632086370-0"]
    )


class StreamLengthReply(WireModel):
    """The length of a stream."""

    model_config = ConfigDict(json_schema_extra={"example": {"length": 3}})

    length: int = Field(description="How many entries the stream has.", examples=[3])


_STREAM_ITEM: Final[JsonDict] = {
    "key": "race:france",
    "length": 3,
    "last_id": "1692632102976-0",
    "entries_added": 3,
    "groups": 1,
}


class StreamItem(WireModel):
    """A stream in a listing."""

    key: str = Field(description="The stream's key.", examples=["race:france"])
    encoding: NameEncodingField = None
    length: int = Field(description="How many entries the stream has.", examples=[3])
    last_id: str = Field(description="The last id that the stream issued.", examples=["1692632102976-0"])
    entries_added: int = Field(description="How many entries were ever added.", examples=[4])
    groups: int = Field(description="How many consumer groups the stream has.", examples=[1])


class StreamPage(WireModel):
    """A page of streams, in byte order of their keys."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "streams": [_STREAM_ITEM],
                "next": None,
            }
        }
    )

    streams: list[StreamItem] = Field(
        description="The streams.",
        examples=[[_STREAM_ITEM]],
    )
    next: str | None = Field(
        description="Send it as `start_after` for the next page; null on the last page.",
        examples=["race:france"],
    )
    encoding: NameEncodingField = None


class IdempotencyState(WireModel):
    """The idempotency keys that a stream remembers."""

    duration_s: int = Field(description="How long the stream remembers a key, in seconds.", examples=[100])
    maxsize: int = Field(description="How many keys the stream remembers for each producer.", examples=[100])
    producers: int = Field(description="How many producers the stream remembers now.", examples=[0])
    keys: int = Field(description="How many keys the stream remembers now.", examples=[0])
    keys_added: int = Field(description="How many keys were ever remembered.", examples=[0])
    duplicates: int = Field(
        description="How many appends were repetitions: the stream returned the first result and appended "
        "nothing.",
        examples=[0],
    )


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
    "incarnation": INCARNATION_EXAMPLE,
    "length": 3,
    "first_id": "1692632086370-0",
    "last_id": "1692632102976-0",
    "max_deleted_id": "0-0",
    "entries_added": 3,
    "recorded_first_id": "1692632086370-0",
    "groups": 1,
    "blocks": 1,
    "bytes": 201,
    "idempotency": IDEMPOTENCY_EXAMPLE,
    "first_entry": ENTRY_EXAMPLE,
    "last_entry": LAST_ENTRY_EXAMPLE,
}


class StreamState(WireModel):
    """The state of a stream."""

    model_config = ConfigDict(json_schema_extra={"example": STATE_EXAMPLE})

    key: str = Field(description="The stream's key.", examples=["race:france"])
    encoding: NameEncodingField = None
    incarnation: IncarnationField = None
    length: int = Field(description="How many entries the stream has.", examples=[3])
    first_id: str | None = Field(
        description="The id of the first entry; null if the stream is empty.", examples=["1692632086370-0"]
    )
    last_id: EntryId
    max_deleted_id: str = Field(
        description="The greatest id that was ever deleted; `0-0` if none.", examples=["0-0"]
    )
    entries_added: int = Field(description="How many entries were ever added.", examples=[3])
    recorded_first_id: str = Field(
        description="The first id that the server uses to compute the lag of groups; `0-0` if the stream "
        "is empty.",
        examples=["1692632086370-0"],
    )
    groups: int = Field(description="How many consumer groups the stream has.", examples=[1])
    blocks: int = Field(description="How many blocks hold the entries.", examples=[1])
    bytes: int | None = Field(
        description="The bytes of the entries as compact JSON, before compression. A deleted entry may count "
        "until its block goes. Null behind a gateway.",
        examples=[201],
    )
    idempotency: IdempotencyState = Field(
        description="The idempotency keys that the stream remembers.", examples=[IDEMPOTENCY_EXAMPLE]
    )
    retention: RetentionState | None = Field(
        None,
        description="The rules by which the server removes the oldest entries; absent without rules.",
        examples=[RETENTION_STATE_EXAMPLE],
    )
    scheduled: int | None = Field(
        None,
        description="How many entries are scheduled to be appended later; absent if none are.",
        examples=[1],
    )
    first_entry: Entry | None = Field(
        description="The first entry; null if the stream is empty.", examples=[ENTRY_EXAMPLE]
    )
    last_entry: Entry | None = Field(
        description="The last entry; null if the stream is empty.", examples=[ENTRY_EXAMPLE]
    )
    entries: list[Entry] | None = Field(
        None, description="The first `count` entries; only with `full=true`.", examples=[[ENTRY_EXAMPLE]]
    )
    group_details: list[GroupDetail] | None = Field(
        None,
        description="Each group with its pending entries; only with `full=true`.",
        examples=[[]],
    )
