"""Wire models of pending entries: listing, acknowledging, returning (nack) and claiming them."""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic.config import JsonDict

from tailrace.api.schemas.base import (
    I64_MAX,
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
    """A pending entry: delivered to a consumer, and not yet acknowledged."""

    id: EntryId
    consumer: str | None = Field(
        description="The consumer that owns the entry; null after a nack.", examples=["alice"]
    )
    encoding: NameEncodingField = None
    idle_ms: int | None = Field(
        description="Milliseconds since the last delivery; null if the entry has no owner.", examples=[60000]
    )
    deliveries: int = Field(description="How often the entry was delivered.", examples=[1])
    delivered_at_ms: int = Field(
        description="The time of the last delivery, in Unix milliseconds; 0 after a nack.",
        examples=[1692632087973],
    )
    claimable_at_ms: int | None = Field(
        None,
        description="After a nack with a delay: the time before which no consumer can claim the entry, in "
        "Unix milliseconds; else absent.",
        examples=[1692632092973],
    )


class PendingPage(WireModel):
    """A page of pending entries, in id order."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"pending": [PENDING_EXAMPLE], "next": "1692632086370-0"}}
    )

    pending: list[PendingItem] = Field(description="The pending entries.", examples=[[PENDING_EXAMPLE]])
    next: str | None = Field(
        description="The id of the last entry: send `start=(next` for the next page. Null if the page is "
        "not full.",
        examples=["1692632086370-0"],
    )


class PendingOfConsumer(WireModel):
    """The number of pending entries of one consumer."""

    name: str = Field(description="The consumer's name.", examples=["alice"])
    encoding: NameEncodingField = None
    pending: int = Field(description="How many entries are pending for the consumer.", examples=[2])


class PendingOverview(WireModel):
    """A summary of the pending entries of a group."""

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

    count: int = Field(description="How many entries are pending in the group.", examples=[2])
    min_id: str | None = Field(
        description="The smallest pending id; null if no entry is pending.", examples=["1692632086370-0"]
    )
    max_id: str | None = Field(
        description="The greatest pending id; null if no entry is pending.", examples=["1692632094485-0"]
    )
    consumers: list[PendingOfConsumer] = Field(
        description="Consumers that have pending entries, in byte order of their names.",
        examples=[[{"name": "alice", "pending": 2}]],
    )


class AckBody(WireModel):
    """Entries to acknowledge."""

    model_config = ConfigDict(json_schema_extra={"example": {"ids": ["1692632086370-0"]}})

    ids: EntryIds
    delete: bool = Field(
        False,
        description=(
            "Delete the entries from the stream in the same atomic step (XACKDEL). The token needs `admin` "
            "in addition to `consume`, unless `references` is `acknowledged`."
        ),
        examples=[False],
    )
    references: ReferencesField | None = Field(
        None,
        description="With `delete`: what to do with the pending entries of other groups; `keep` by default.",
        examples=["acknowledged"],
    )

    @model_validator(mode="after")
    def _references_need_delete(self) -> Self:
        if self.references is not None and not self.delete:
            raise ValueError("`references` needs `delete`")
        return self


class AckReply(WireModel):
    """The result of an acknowledgment."""

    model_config = ConfigDict(json_schema_extra={"example": {"acknowledged": 1}})

    acknowledged: int = Field(description="How many entries were acknowledged.", examples=[1])
    results: list[DeleteOutcome] | None = Field(
        None,
        description=(
            "With `delete`: the result for each id, in the order of the request. `not_found`: it was not "
            "pending."
        ),
        examples=[[{"id": "1692632086370-0", "result": "deleted"}]],
    )


class NackBody(WireModel):
    """Entries that a consumer returns to its group unprocessed."""

    model_config = ConfigDict(json_schema_extra={"example": {"ids": ["1692632094485-0"], "mode": "fail"}})

    ids: EntryIds
    mode: Literal["silent", "fail", "fatal"] = Field(
        "fail",
        description=(
            "How the delivery counts. `silent`: it does not count. `fail`: it counts. `fatal`: the delivery "
            "count becomes the greatest possible number, so that consumers with a limit of deliveries set "
            "the entry aside."
        ),
        examples=["fail"],
    )
    retry_count: Count | None = Field(None, description="The new delivery count.", examples=[3])
    force: bool = Field(
        False,
        description=(
            "Also make entries pending that are in the stream and not pending. The token needs `admin` in "
            "addition to `consume`."
        ),
        examples=[False],
    )
    delay_ms: Annotated[int, Field(ge=0, le=I64_MAX)] | None = Field(
        None,
        description=(
            "How long the entries wait before they can be claimed, in milliseconds, a year (`delay_ms_max`) "
            "at most; 0: not at all. Without it, the `backoff` of the group applies, but not to the mode "
            "`silent`."
        ),
        examples=[5000],
    )


class NackReply(WireModel):
    """The result of a nack."""

    model_config = ConfigDict(json_schema_extra={"example": {"nacked": 1}})

    nacked: int = Field(description="How many entries were returned; they now have no owner.", examples=[1])


class ClaimBody(WireModel):
    """Pending entries that a consumer takes over, named by id."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"consumer": "bob", "min_idle_ms": 30000, "ids": ["1692632086370-0"]}}
    )

    consumer: str = Field(
        description="The consumer that takes the entries over; created if it does not exist.",
        examples=["bob"],
    )
    encoding: NameEncodingField = None
    min_idle_ms: Milliseconds = Field(
        description="Claim only entries whose last delivery is at least this many milliseconds ago.",
        examples=[30000],
    )
    ids: EntryIds
    idle_ms: Milliseconds | None = Field(
        None, description="The new idle time, in milliseconds; 0 by default.", examples=[0]
    )
    delivered_at_ms: Milliseconds | None = Field(
        None, description="The new time of delivery, in Unix milliseconds.", examples=[1692632087973]
    )
    retry_count: Count | None = Field(
        None, description="The new delivery count; by default the claim adds one.", examples=[3]
    )
    force: bool = Field(
        False,
        description=(
            "Also make entries pending that are in the stream and not pending. The token needs `admin` in "
            "addition to `consume`."
        ),
        examples=[False],
    )
    just_id: bool = Field(
        False, description="Return only ids, and do not count a delivery.", examples=[False]
    )
    last_id: str | None = Field(
        None,
        description="Raise the group's last delivered id to this id. The token needs `admin` in addition "
        "to `consume`.",
        examples=["1692632094485-0"],
    )

    @model_validator(mode="after")
    def _one_time(self) -> Self:
        if self.idle_ms is not None and self.delivered_at_ms is not None:
            raise ValueError("give only one of `idle_ms` and `delivered_at_ms`")
        return self


class ClaimReply(WireModel):
    """The claimed entries: `entries`, or only `ids` with `just_id`."""

    model_config = ConfigDict(json_schema_extra={"example": {"entries": [ENTRY_EXAMPLE]}})

    entries: list[Entry] | None = Field(
        None, description="The claimed entries; absent with `just_id`.", examples=[[ENTRY_EXAMPLE]]
    )
    ids: list[str] | None = Field(
        None,
        description="The ids of the claimed entries; only with `just_id`.",
        examples=[["1692632086370-0"]],
    )


class ExtendBody(WireModel):
    """Entries that a consumer still works on."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"consumer": "alice", "ids": ["1692632086370-0"]}}
    )

    consumer: str = Field(description="The consumer that owns the entries.", examples=["alice"])
    encoding: NameEncodingField = None
    ids: EntryIds


class ExtendReply(WireModel):
    """Which entries the consumer keeps."""

    model_config = ConfigDict(json_schema_extra={"example": {"extended": ["1692632086370-0"], "lost": []}})

    extended: list[str] = Field(
        description="The ids that the consumer owns; their idle time begins again.",
        examples=[["1692632086370-0"]],
    )
    lost: list[str] = Field(
        description="The ids that the consumer does not own: another consumer claimed them, or they are no "
        "longer pending. Stop working on them.",
        examples=[["1692632086370-0"]],
    )


class AutoClaimBody(WireModel):
    """Idle pending entries that a consumer takes over, found by a scan in id order."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"consumer": "bob", "min_idle_ms": 30000, "count": 1}}
    )

    consumer: str = Field(
        description="The consumer that takes the entries over; created if it does not exist.",
        examples=["bob"],
    )
    encoding: NameEncodingField = None
    min_idle_ms: Milliseconds = Field(
        description="Claim only entries whose last delivery is at least this many milliseconds ago.",
        examples=[30000],
    )
    start: str = Field(
        "0-0", description="The id where the scan begins: `cursor` of the previous scan.", examples=["0-0"]
    )
    count: int = Field(
        100, ge=1, le=PAGE_ENTRIES_MAX, description="How many entries to claim at most.", examples=[100]
    )
    just_id: bool = Field(
        False, description="Return only ids, and do not count a delivery.", examples=[False]
    )


class AutoClaimReply(ClaimReply):
    """The entries that a scan claimed, and where the next scan begins."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"cursor": "1692632094485-0", "entries": [ENTRY_EXAMPLE], "deleted_ids": []}
        }
    )

    cursor: str = Field(
        description="Send it as `start` of the next scan; `0-0` if the scan is complete.", examples=["0-0"]
    )
    deleted_ids: list[str] = Field(
        description="Ids of entries that are no longer in the stream. The scan removed them from the "
        "pending entries.",
        examples=[[]],
    )
