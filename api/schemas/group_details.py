"""Wire models of a group with its pending entries and consumers, for the full description of a stream."""

from __future__ import annotations

from pydantic import Field

from tailrace.api.schemas.base import NameEncodingField, WireModel
from tailrace.api.schemas.pending import PENDING_EXAMPLE, PendingItem


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
