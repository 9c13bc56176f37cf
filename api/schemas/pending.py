"""Wire models of pending entries: acknowledged, refused, claimed, listed."""

from __future__ import annotations

from typing import Final, Literal, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic.config import JsonDict

from tailrace.api.schemas.base import (
    Count,
    EntryId,
    EntryIds,
    Milliseconds,
    NameEncodingField,
    ReferencesField,
    WireModel,
)
from tailrace.api.schemas.entries import ENTRY_EXAMPLE, DeleteOutcome, Entry
from tailrace.core.limits import PAGE_ENTRIES_MAX

PENDING_EXAMPLE: Final[JsonDict] = {
    "id": "1692632086370-0",
    "consumer": "alice",
    "idle_ms": 60000,
    "deliveries": 1,
    "delivered_at_ms": 1692632087973,
}


class PendingItem(WireModel):
    """One pending entry."""

    id: EntryId
    consumer: str | None = Field(description="Its owner; null after a nack.", examples=["alice"])
    encoding: NameEncodingField = None
    idle_ms: int | None = Field(
        description="Milliseconds since its last delivery; null where it has no owner.", examples=[60000]
    )
    deliveries: int = Field(description="How often it was delivered.", examples=[1])
    delivered_at_ms: int = Field(
        description="When it was last delivered, Unix milliseconds; 0 after a nack.",
        examples=[1692632087973],
    )


class PendingPage(WireModel):
    """A page of pending entries, in id order."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"pending": [PENDING_EXAMPLE], "next": "1692632086370-0"}}
    )

    pending: list[PendingItem] = Field(description="The pending entries.", examples=[[PENDING_EXAMPLE]])
    next: str | None = Field(
        description="`start=(next` reads on; null where this page is not full.", examples=["1692632086370-0"]
    )


class PendingOfConsumer(WireModel):
    """How much is pending for one consumer."""

    name: str = Field(description="The consumer's name.", examples=["alice"])
    encoding: NameEncodingField = None
    pending: int = Field(description="Its pending entries.", examples=[2])


class PendingOverview(WireModel):
    """What is pending in a group, in all."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "count": 2,
                "min_id": "1692632086370-0",
                "max_id": "1692632094485-0",
                "consumers": [{"name": "alice", "pending": 2}],
            }
        }
    )

    count: int = Field(description="Pending entries.", examples=[2])
    min_id: str | None = Field(description="The least id pending.", examples=["1692632086370-0"])
    max_id: str | None = Field(description="The greatest id pending.", examples=["1692632094485-0"])
    consumers: list[PendingOfConsumer] = Field(
        description="Consumers that have pending entries, in byte order of their names.",
        examples=[[{"name": "alice", "pending": 2}]],
    )


class AckBody(WireModel):
    """Entries that are done."""

    model_config = ConfigDict(json_schema_extra={"example": {"ids": ["1692632086370-0"]}})

    ids: EntryIds
    delete: bool = Field(
        False,
        description=(
            "Delete the entries from the stream in the same step (XACKDEL). A token needs `admin` beside "
            "`consume`, unless `references` is `acknowledged`."
        ),
        examples=[False],
    )
    references: ReferencesField | None = Field(
        None,
        description="With `delete`: what it does with other groups' pending entries; `keep` by default.",
        examples=["acknowledged"],
    )

    @model_validator(mode="after")
    def _references_need_delete(self) -> Self:
        if self.references is not None and not self.delete:
            raise ValueError("`references` needs `delete`")
        return self


class AckReply(WireModel):
    """What was acknowledged."""

    model_config = ConfigDict(json_schema_extra={"example": {"acknowledged": 1}})

    acknowledged: int = Field(description="Entries that were pending and no longer are.", examples=[1])
    results: list[DeleteOutcome] | None = Field(
        None,
        description=(
            "With `delete`: what became of each id, in the order asked for; `not_found` was not pending."
        ),
        examples=[[{"id": "1692632086370-0", "result": "deleted"}]],
    )


class NackBody(WireModel):
    """Entries that a consumer gives back."""

    model_config = ConfigDict(json_schema_extra={"example": {"ids": ["1692632094485-0"], "mode": "fail"}})

    ids: EntryIds
    mode: Literal["silent", "fail", "fatal"] = Field(
        "fail",
        description=(
            "`silent`: the delivery does not count. `fail`: it counts. `fatal`: the count becomes the "
            "greatest there is, so that whoever bounds deliveries sets the entry aside."
        ),
        examples=["fail"],
    )
    retry_count: Count | None = Field(None, description="Set the count of deliveries to this.", examples=[3])
    force: bool = Field(
        False,
        description=(
            "Make entries pending that are not, if they exist. A token needs `admin` beside `consume`."
        ),
        examples=[False],
    )


class NackReply(WireModel):
    """How many were given back."""

    model_config = ConfigDict(json_schema_extra={"example": {"nacked": 1}})

    nacked: int = Field(description="Entries that have no owner now.", examples=[1])


class ClaimBody(WireModel):
    """Pending entries that a consumer takes over, by id."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"consumer": "bob", "min_idle_ms": 30000, "ids": ["1692632086370-0"]}}
    )

    consumer: str = Field(description="Who takes over; created if new.", examples=["bob"])
    encoding: NameEncodingField = None
    min_idle_ms: Milliseconds = Field(
        description="Only what was delivered at least this long ago.", examples=[30000]
    )
    ids: EntryIds
    idle_ms: Milliseconds | None = Field(
        None, description="Set the idle time to this; 0 by default.", examples=[0]
    )
    delivered_at_ms: Milliseconds | None = Field(
        None, description="Set the time of delivery, Unix milliseconds.", examples=[1692632087973]
    )
    retry_count: Count | None = Field(
        None, description="Set the count of deliveries to this, in place of adding one.", examples=[3]
    )
    force: bool = Field(
        False,
        description=(
            "Make entries pending that are not, if they exist. A token needs `admin` beside `consume`."
        ),
        examples=[False],
    )
    just_id: bool = Field(
        False, description="Answer ids only, and do not count a delivery.", examples=[False]
    )
    last_id: str | None = Field(
        None,
        description="Raise the group's last delivered id to this. A token needs `admin` beside `consume`.",
        examples=["1692632094485-0"],
    )

    @model_validator(mode="after")
    def _one_time(self) -> Self:
        if self.idle_ms is not None and self.delivered_at_ms is not None:
            raise ValueError("`idle_ms` and `delivered_at_ms` exclude each other")
        return self


class ClaimReply(WireModel):
    """What was claimed: `entries`, or `ids` with `just_id`."""

    model_config = ConfigDict(json_schema_extra={"example": {"entries": [ENTRY_EXAMPLE]}})

    entries: list[Entry] | None = Field(
        None, description="The entries now owned; absent with `just_id`.", examples=[[ENTRY_EXAMPLE]]
    )
    ids: list[str] | None = Field(
        None, description="Their ids; only with `just_id`.", examples=[["1692632086370-0"]]
    )


class AutoClaimBody(WireModel):
    """Pending entries that a consumer takes over, found by scanning in id order."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"consumer": "bob", "min_idle_ms": 30000, "count": 1}}
    )

    consumer: str = Field(description="Who takes over; created if new.", examples=["bob"])
    encoding: NameEncodingField = None
    min_idle_ms: Milliseconds = Field(
        description="Only what was delivered at least this long ago.", examples=[30000]
    )
    start: str = Field(
        "0-0", description="Where the scan begins: `cursor` of the last one.", examples=["0-0"]
    )
    count: int = Field(
        100, ge=1, le=PAGE_ENTRIES_MAX, description="The most entries to claim.", examples=[100]
    )
    just_id: bool = Field(
        False, description="Answer ids only, and do not count a delivery.", examples=[False]
    )


class AutoClaimReply(ClaimReply):
    """What a scan claimed, and where to go on."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"cursor": "1692632094485-0", "entries": [ENTRY_EXAMPLE], "deleted_ids": []}
        }
    )

    cursor: str = Field(description="`start` of the next scan; `0-0` at the end.", examples=["0-0"])
    deleted_ids: list[str] = Field(
        description="Entries that are no longer in the stream; they are no longer pending either.",
        examples=[[]],
    )
