"""Wire models of consumer groups: their settings, their consumers, and their dead letters."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from tailrace.api.schemas.base import I64_MAX, Count, EntryIds, NameEncodingField, WireModel
from tailrace.core.limits import (
    BACKOFF_FACTOR_MAX,
    CONSUMER_EXPIRY_MS_MIN,
    DEAD_LETTERS_MAX,
    DELAY_MS_MAX,
    FILTER_CHARACTERS_MAX,
    NAME_BYTES_MAX,
)

BACKOFF_EXAMPLE: Final[JsonDict] = {"initial_ms": 1000, "factor": 2.0, "max_ms": 60_000}


class Backoff(WireModel):
    """How long a nack delays the next delivery of an entry: `initial_ms` after the first delivery, and
    `factor` times as long after each further one, but at most `max_ms`."""

    model_config = ConfigDict(json_schema_extra={"example": BACKOFF_EXAMPLE})

    initial_ms: int = Field(
        ge=1,
        le=DELAY_MS_MAX,
        description="The delay after the first delivery, in milliseconds.",
        examples=[1000],
    )
    factor: float = Field(
        2.0,
        ge=1,
        le=BACKOFF_FACTOR_MAX,
        description="By which factor the delay grows with each delivery.",
        examples=[2.0],
    )
    max_ms: int = Field(
        3_600_000,
        ge=1,
        le=DELAY_MS_MAX,
        description="The longest delay, in milliseconds; at least `initial_ms`.",
        examples=[60_000],
    )


CONSUMER_EXAMPLE: Final[JsonDict] = {"name": "alice", "pending": 2, "idle_ms": 60000, "inactive_ms": 60000}
GROUP_EXAMPLE: Final[JsonDict] = {
    "name": "judges",
    "consumers": 1,
    "pending": 2,
    "last_delivered_id": "1692632094485-0",
    "entries_read": 2,
    "lag": 1,
    "lag_ms": 44997,
}


class GroupBody(WireModel):
    """The position of a new group."""

    model_config = ConfigDict(json_schema_extra={"example": {"after": "0", "entries_read": 0}})

    after: str = Field(
        "$",
        description="The group receives the entries after this id. `$` is the stream's last id; `0` means "
        "all entries.",
        examples=["$"],
    )
    create_stream: bool = Field(
        False,
        description="Create an empty stream if it does not exist; without this option the request fails "
        "with 404.",
        examples=[True],
    )
    entries_read: Count | None = Field(
        None, description="How many entries the group counts as read, if you know it.", examples=[0]
    )


class GroupPositionBody(WireModel):
    """The position from which a group continues."""

    model_config = ConfigDict(json_schema_extra={"example": {"after": "0"}})

    after: str = Field(
        description="The group receives the entries after this id; `$` is the stream's last id.",
        examples=["0"],
    )
    entries_read: Count | None = Field(
        None, description="How many entries the group counts as read, if you know it.", examples=[0]
    )


class Group(WireModel):
    """A consumer group."""

    model_config = ConfigDict(json_schema_extra={"example": GROUP_EXAMPLE})

    name: str = Field(description="The group's name.", examples=["judges"])
    encoding: NameEncodingField = None
    consumers: int = Field(description="How many consumers the group has.", examples=[1])
    pending: int = Field(
        description="How many entries were delivered and not yet acknowledged.", examples=[2]
    )
    last_delivered_id: str = Field(
        description="The id of the last entry delivered to the group. Entries after it are new.",
        examples=["1692632094485-0"],
    )
    entries_read: int | None = Field(
        description="How many entries the group has read, from the stream's first on; null if unknown.",
        examples=[2],
    )
    lag: int | None = Field(
        description="How many entries are not yet delivered; null if the engine of a gateway does not know "
        "it.",
        examples=[1],
    )
    lag_ms: int | None = Field(
        None,
        description="The age of the oldest entry that is not yet delivered, in milliseconds, by the time in "
        "its id; absent if all are delivered, and behind a gateway.",
        examples=[44997],
    )
    max_deliveries: int | None = Field(
        None, description="How often an entry is delivered at most; absent if not set.", examples=[5]
    )
    dead_letter_stream: str | None = Field(
        None,
        description="The key of the stream to which an entry moves instead of one more delivery; absent if "
        "not set.",
        examples=["race:france:dead"],
    )
    filter: str | None = Field(
        None,
        description="The condition on the entries that the group delivers; absent if not set.",
        examples=['fields.rider == "Castilla"'],
    )
    claim_min_idle_ms: int | None = Field(
        None,
        description="A read of the group first claims entries that are idle for at least this long, in "
        "milliseconds; absent if not set.",
        examples=[30000],
    )
    consumer_expiry_ms: int | None = Field(
        None,
        description="A consumer that was not seen for this long, in milliseconds, gives its entries back and "
        "is deleted; absent if not set.",
        examples=[300000],
    )
    max_lag_ms: int | None = Field(
        None,
        description="The `lag_ms` from which the server warns; absent if not set.",
        examples=[60000],
    )
    backoff: Backoff | None = Field(
        None,
        description="How long a nack delays the next delivery of an entry; absent if not set.",
        examples=[BACKOFF_EXAMPLE],
    )
    order_by: str | None = Field(
        None,
        description="The field by whose values the group delivers in order; absent if not set.",
        examples=["customer"],
    )
    held: int | None = Field(
        None,
        description="How many entries wait until an earlier one with the same value of `order_by` is "
        "acknowledged. `lag` includes them. Absent without `order_by`.",
        examples=[3],
    )
    keys_in_flight: int | None = Field(
        None,
        description="How many values of `order_by` the pending entries have; absent without `order_by`.",
        examples=[2],
    )
    dead_letters: int | None = Field(
        None,
        description="How many entries of the group ever moved to a dead-letter stream; absent if the group "
        "never had one.",
        examples=[1],
    )


class GroupList(WireModel):
    """The groups of a stream, in byte order of their names."""

    model_config = ConfigDict(json_schema_extra={"example": {"groups": [GROUP_EXAMPLE]}})

    groups: list[Group] = Field(description="The groups of the stream.", examples=[[GROUP_EXAMPLE]])


class Consumer(WireModel):
    """A consumer of a group."""

    model_config = ConfigDict(json_schema_extra={"example": CONSUMER_EXAMPLE})

    name: str = Field(description="The consumer's name.", examples=["alice"])
    encoding: NameEncodingField = None
    pending: int = Field(
        description="How many entries were delivered to the consumer and not yet acknowledged.", examples=[2]
    )
    idle_ms: int = Field(description="Milliseconds since the consumer's last request.", examples=[60000])
    inactive_ms: int | None = Field(
        description="Milliseconds since entries were last delivered to the consumer; null if never.",
        examples=[60000],
    )


class ConsumerList(WireModel):
    """The consumers of a group, in byte order of their names."""

    model_config = ConfigDict(json_schema_extra={"example": {"consumers": [CONSUMER_EXAMPLE]}})

    consumers: list[Consumer] = Field(
        description="The consumers of the group.", examples=[[CONSUMER_EXAMPLE]]
    )


class ConsumerCreated(WireModel):
    """A consumer that now exists, created or already there."""

    model_config = ConfigDict(json_schema_extra={"example": {"name": "alice", "created": True}})

    name: str = Field(description="The consumer's name.", examples=["alice"])
    encoding: NameEncodingField = None
    created: bool = Field(
        description="True if the request created the consumer, false if it existed already.", examples=[True]
    )


class ConsumerDeleted(WireModel):
    """The result of deleting a consumer."""

    model_config = ConfigDict(json_schema_extra={"example": {"pending_dropped": 0}})

    pending_dropped: int = Field(
        description="How many pending entries were dropped. The group will not deliver them again.",
        examples=[0],
    )


REDRIVEN_EXAMPLE: Final[JsonDict] = {"id": "1692632147973-0", "new_id": "1692632147973-0"}
CONFIGURED_EXAMPLE: Final[JsonDict] = {
    **GROUP_EXAMPLE,
    "dead_letter_stream": "race:france:dead",
    "max_deliveries": 5,
    "dead_letters": 0,
}


class GroupSettingsBody(WireModel):
    """Settings of a group. A setting that is not named stays as it is; null removes it."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"max_deliveries": 5, "dead_letter_stream": "race:france:dead"}}
    )

    max_deliveries: Annotated[int, Field(ge=1, le=I64_MAX)] | None = Field(
        None,
        description="How often an entry is delivered at most. Before one more delivery, the entry moves to "
        "`dead_letter_stream`, which must be set as well.",
        examples=[5],
    )
    dead_letter_stream: str | None = Field(
        None,
        description="The key of the stream to which such entries move. It is created with its first entry. "
        "The token needs `admin` on it, too.",
        examples=["race:france:dead"],
    )
    filter: Annotated[str, Field(max_length=FILTER_CHARACTERS_MAX)] | None = Field(
        None,
        description="A condition, as in `GET .../entries`. The group delivers only entries that match; "
        "others count as read.",
        examples=['fields.rider == "Castilla"'],
    )
    claim_min_idle_ms: Annotated[int, Field(ge=1, le=I64_MAX)] | None = Field(
        None,
        description="Before new entries, a read of the group claims entries that are idle for at least this "
        "long, in milliseconds, unless the read has a `claim_min_idle_ms` of its own.",
        examples=[30000],
    )
    consumer_expiry_ms: Annotated[int, Field(ge=CONSUMER_EXPIRY_MS_MIN, le=I64_MAX)] | None = Field(
        None,
        description="A consumer that was not seen for this long, in milliseconds, gives its entries back to "
        "the group and is deleted. Reading, waiting, claiming and extending count as being seen.",
        examples=[300000],
    )
    max_lag_ms: Annotated[int, Field(ge=1, le=I64_MAX)] | None = Field(
        None,
        description="The server warns in its log and its metrics while the oldest entry that the group has "
        "not read is at least this old, in milliseconds.",
        examples=[60000],
    )
    backoff: Backoff | None = Field(
        None,
        description="How long a nack without `delay_ms` delays the next delivery of an entry.",
        examples=[BACKOFF_EXAMPLE],
    )
    order_by: Annotated[str, Field(min_length=1, max_length=NAME_BYTES_MAX)] | None = Field(
        None,
        description="The name of a field. At most one entry of each value of this field is delivered and not "
        "acknowledged, so entries with equal values are processed in order, one after another. Entries "
        "without the field are not held back.",
        examples=["customer"],
    )
    encoding: NameEncodingField = None


class RedriveBody(WireModel):
    """Which dead letters to send back: all from `start` on, or those with these ids."""

    model_config = ConfigDict(json_schema_extra={"example": {"limit": 100}})

    ids: EntryIds | None = Field(
        None, description="Ids in the dead-letter stream; without them, all.", examples=[["1692632147973-0"]]
    )
    start: str = Field(
        "-",
        description="The first id in the dead-letter stream to examine: `next` of the previous response. "
        "Not with `ids`.",
        examples=["-"],
    )
    limit: int = Field(
        100,
        ge=1,
        le=DEAD_LETTERS_MAX,
        description="How many dead letters to examine at most.",
        examples=[100],
    )


class RedrivenEntry(WireModel):
    """A dead letter that was sent back."""

    model_config = ConfigDict(json_schema_extra={"example": REDRIVEN_EXAMPLE})

    id: str = Field(
        description="Its id in the dead-letter stream, from which it was deleted.",
        examples=["1692632147973-0"],
    )
    new_id: str = Field(description="Its new id in the group's stream.", examples=["1692632147973-0"])


class RedriveReply(WireModel):
    """The dead letters that were sent back."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"redriven": [REDRIVEN_EXAMPLE], "skipped": 0, "next": None}}
    )

    redriven: list[RedrivenEntry] = Field(
        description="The entries that were sent back, in the order of their ids.",
        examples=[[REDRIVEN_EXAMPLE]],
    )
    skipped: int = Field(
        description="How many were examined and stay where they are: they are missing, or they are not dead "
        "letters of this group.",
        examples=[0],
    )
    next: str | None = Field(
        description="The id from which the next request continues; null at the end.",
        examples=["1692632147974-0"],
    )
