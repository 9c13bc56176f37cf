"""Wire models of claims: a consumer takes over pending entries of other consumers."""

from __future__ import annotations

from typing import Self

from pydantic import ConfigDict, Field, model_validator

from tailrace.api.schemas.base import Count, EntryIds, Milliseconds, NameEncodingField, WireModel
from tailrace.api.schemas.entries import ENTRY_EXAMPLE, Entry
from tailrace.core.limits import PAGE_ENTRIES_MAX


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
