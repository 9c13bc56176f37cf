"""Wire models of whole streams: settings, retention, counters, state, and the full description with
groups.
"""

from __future__ import annotations

from typing import Annotated, Final, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic.config import JsonDict

from tailrace.api.schemas.base import (
    I64_MAX,
    INCARNATION_EXAMPLE,
    Count,
    EntryId,
    IncarnationField,
    NameEncodingField,
    WireModel,
)
from tailrace.api.schemas.entries import ENTRY_EXAMPLE, LAST_ENTRY_EXAMPLE, Entry
from tailrace.api.schemas.pending import PENDING_EXAMPLE, PendingItem
from tailrace.core.limits import IDMP_DURATION_S_MAX, IDMP_MAXSIZE_MAX

RETENTION_EXAMPLE: Final[JsonDict] = {"max_age_ms": 604_800_000, "protect_unread": True}
RETENTION_STATE_EXAMPLE: Final[JsonDict] = {
    "max_age_ms": 604_800_000,
    "acknowledged": False,
    "protect_unread": True,
    "removed": {"max_age_ms": 2},
    "removed_at_ms": 1_692_632_147_973,
    "protected_entries": 0,
    "protected_bytes": 0,
}


class RetentionBody(WireModel):
    """The rules by which the server removes the oldest entries of a stream. An entry goes if one rule removes
    it. At least one rule other than `protect_unread` is needed."""

    model_config = ConfigDict(json_schema_extra={"example": RETENTION_EXAMPLE})

    max_age_ms: Annotated[int, Field(ge=1, le=I64_MAX)] | None = Field(
        None,
        description="How long an entry is kept, in milliseconds, from the time in its id on.",
        examples=[604_800_000],
    )
    max_length: Annotated[int, Field(ge=1, le=I64_MAX)] | None = Field(
        None, description="How many entries are kept.", examples=[1_000_000]
    )
    max_bytes: Annotated[int, Field(ge=1, le=I64_MAX)] | None = Field(
        None,
        description="How many bytes of entries are kept, as compact JSON before compression. Whole blocks "
        "are removed; the last block stays.",
        examples=[1_073_741_824],
    )
    acknowledged: bool = Field(
        False,
        description="Whether to remove entries that every group has read and acknowledged, up to the first "
        "one that a group has not. A stream without groups keeps all.",
        examples=[True],
    )
    protect_unread: bool = Field(
        False,
        description="Whether to keep entries that a group has not read, whatever the other rules say.",
        examples=[True],
    )

    @model_validator(mode="after")
    def _has_a_rule(self) -> Self:
        rules = (self.max_age_ms, self.max_length, self.max_bytes)
        if not self.acknowledged and all(rule is None for rule in rules):
            raise ValueError(
                "needs at least one of `max_age_ms`, `max_length`, `max_bytes` and `acknowledged`; set "
                "`retention` to null to keep all entries"
            )
        return self


class RetentionState(RetentionBody):
    """The retention of a stream, and what it has removed."""

    model_config = ConfigDict(json_schema_extra={"example": RETENTION_STATE_EXAMPLE})

    removed: dict[str, int] = Field(
        description="How many entries were ever removed, by the rule that removed the most at that time.",
        examples=[{"max_age_ms": 2}],
    )
    removed_at_ms: int | None = Field(
        description="When the last entries were removed, in Unix milliseconds; null if none were.",
        examples=[1692632147973],
    )
    protected_entries: int = Field(
        description="How many entries remain only because of `protect_unread`.", examples=[0]
    )
    protected_bytes: int = Field(
        description="The bytes of the blocks that have only such entries.", examples=[0]
    )


class ConsumerDetail(WireModel):
    """A consumer with its pending entries."""

    name: str = Field(description="The consumer's name.", examples=["alice"])
    encoding: NameEncodingField = None
    seen_at_ms: int = Field(
        description="The time of the consumer's last request, in Unix milliseconds.", examples=[1692632087973]
    )
    active_at_ms: int | None = Field(
        description="The time of the last delivery to the consumer, in Unix milliseconds; null if never.",
        examples=[1692632087973],
    )
    pending: int = Field(
        description="How many entries were delivered to the consumer and not yet acknowledged.", examples=[2]
    )
    pending_entries: list[PendingItem] = Field(
        description="The first `count` pending entries of the consumer, in id order.",
        examples=[[PENDING_EXAMPLE]],
    )


class GroupDetail(WireModel):
    """A group with its pending entries and consumers."""

    name: str = Field(description="The group's name.", examples=["judges"])
    encoding: NameEncodingField = None
    last_delivered_id: str = Field(
        description="The id of the last entry delivered to the group. Entries after it are new.",
        examples=["1692632094485-0"],
    )
    entries_read: int | None = Field(
        description="How many entries the group has read; null if unknown.", examples=[2]
    )
    lag: int | None = Field(
        description="How many entries are not yet delivered; null if unknown.", examples=[1]
    )
    pending: int = Field(
        description="How many entries were delivered and not yet acknowledged.", examples=[2]
    )
    nacked: int = Field(
        description="How many of the pending entries have no owner, because of a nack.", examples=[0]
    )
    pending_entries: list[PendingItem] = Field(
        description="The first `count` pending entries of the group, in id order.",
        examples=[[PENDING_EXAMPLE]],
    )
    consumers: list[ConsumerDetail] = Field(description="The consumers of the group.", examples=[[]])


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
