"""Wire models of consumer groups and consumers."""

from __future__ import annotations

from typing import Final

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from tailrace.api.schemas.base import Count, NameEncodingField, WireModel
from tailrace.api.schemas.pending import PENDING_EXAMPLE, PendingItem

CONSUMER_EXAMPLE: Final[JsonDict] = {"name": "alice", "pending": 2, "idle_ms": 60000, "inactive_ms": 60000}
GROUP_EXAMPLE: Final[JsonDict] = {
    "name": "judges",
    "consumers": 1,
    "pending": 2,
    "last_delivered_id": "1692632094485-0",
    "entries_read": 2,
    "lag": 1,
}


class GroupBody(WireModel):
    """Where a new group begins."""

    model_config = ConfigDict(json_schema_extra={"example": {"after": "0", "entries_read": 0}})

    after: str = Field(
        "$",
        description="The group is given entries after this id; `$` is the stream's last id, `0` all.",
        examples=["$"],
    )
    create_stream: bool = Field(
        False,
        description="Create the stream, empty, where there is none; else that is a 404.",
        examples=[True],
    )
    entries_read: Count | None = Field(
        None, description="How many entries the group counts as read, where known.", examples=[0]
    )


class GroupPositionBody(WireModel):
    """Where a group goes on."""

    model_config = ConfigDict(json_schema_extra={"example": {"after": "0"}})

    after: str = Field(
        description="The group is given entries after this id; `$` is the stream's last id.", examples=["0"]
    )
    entries_read: Count | None = Field(
        None, description="How many entries the group counts as read, where known.", examples=[0]
    )


class Group(WireModel):
    """A consumer group."""

    model_config = ConfigDict(json_schema_extra={"example": GROUP_EXAMPLE})

    name: str = Field(description="The group's name.", examples=["judges"])
    encoding: NameEncodingField = None
    consumers: int = Field(description="Consumers of the group.", examples=[1])
    pending: int = Field(description="Entries delivered and not acknowledged.", examples=[2])
    last_delivered_id: str = Field(
        description="New entries are those after this id.", examples=["1692632094485-0"]
    )
    entries_read: int | None = Field(
        description="Entries that the group has read, counted from the stream's first; null if not known.",
        examples=[2],
    )
    lag: int | None = Field(
        description="Entries still to be delivered; null where it cannot be known.", examples=[1]
    )


class GroupList(WireModel):
    """The groups of a stream, in byte order of their names."""

    model_config = ConfigDict(json_schema_extra={"example": {"groups": [GROUP_EXAMPLE]}})

    groups: list[Group] = Field(description="The groups.", examples=[[GROUP_EXAMPLE]])


class Consumer(WireModel):
    """A consumer of a group."""

    model_config = ConfigDict(json_schema_extra={"example": CONSUMER_EXAMPLE})

    name: str = Field(description="The consumer's name.", examples=["alice"])
    encoding: NameEncodingField = None
    pending: int = Field(description="Entries delivered to it and not acknowledged.", examples=[2])
    idle_ms: int = Field(description="Milliseconds since it last asked for anything.", examples=[60000])
    inactive_ms: int | None = Field(
        description="Milliseconds since anything was last delivered to it; null if nothing ever was.",
        examples=[60000],
    )


class ConsumerList(WireModel):
    """The consumers of a group, in byte order of their names."""

    model_config = ConfigDict(json_schema_extra={"example": {"consumers": [CONSUMER_EXAMPLE]}})

    consumers: list[Consumer] = Field(description="The consumers.", examples=[[CONSUMER_EXAMPLE]])


class ConsumerCreated(WireModel):
    """The consumer that now stands."""

    model_config = ConfigDict(json_schema_extra={"example": {"name": "alice", "created": True}})

    name: str = Field(description="The consumer's name.", examples=["alice"])
    encoding: NameEncodingField = None
    created: bool = Field(description="Whether it is new.", examples=[True])


class ConsumerDeleted(WireModel):
    """What went with a consumer."""

    model_config = ConfigDict(json_schema_extra={"example": {"pending_dropped": 0}})

    pending_dropped: int = Field(
        description="Pending entries that were dropped: they are neither pending nor new again.",
        examples=[0],
    )


class ConsumerDetail(WireModel):
    """A consumer with its pending entries."""

    name: str = Field(description="The consumer's name.", examples=["alice"])
    encoding: NameEncodingField = None
    seen_at_ms: int = Field(
        description="When it last asked for anything, Unix milliseconds.", examples=[1692632087973]
    )
    active_at_ms: int | None = Field(
        description="When anything was last delivered to it, Unix milliseconds; null for never.",
        examples=[1692632087973],
    )
    pending: int = Field(description="Entries delivered to it and not acknowledged.", examples=[2])
    pending_entries: list[PendingItem] = Field(
        description="The first `count` of them, in id order.", examples=[[PENDING_EXAMPLE]]
    )


class GroupDetail(WireModel):
    """A group with its pending entries and consumers."""

    name: str = Field(description="The group's name.", examples=["judges"])
    encoding: NameEncodingField = None
    last_delivered_id: str = Field(
        description="New entries are those after this id.", examples=["1692632094485-0"]
    )
    entries_read: int | None = Field(description="Entries read; null if not known.", examples=[2])
    lag: int | None = Field(description="Entries still to be delivered; null if not known.", examples=[1])
    pending: int = Field(description="Entries delivered and not acknowledged.", examples=[2])
    nacked: int = Field(description="Those of them that have no owner, after a nack.", examples=[0])
    pending_entries: list[PendingItem] = Field(
        description="The first `count` pending entries, in id order.", examples=[[PENDING_EXAMPLE]]
    )
    consumers: list[ConsumerDetail] = Field(description="The consumers.", examples=[[]])
