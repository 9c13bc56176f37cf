"""Wire models of appends, and of the epochs of producers that replay whole batches."""

from __future__ import annotations

from typing import Final, Literal, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic.config import JsonDict

from tailrace.api.schemas.base import Count, EntryId, NameEncodingField, ReferencesField, WireModel
from tailrace.api.schemas.entries import FIELDS_EXAMPLE, Pair
from tailrace.api.schemas.scheduled import DelayMs, DeliverAtMs
from tailrace.core.limits import BATCH_ENTRIES_MAX, FIELDS_PER_ENTRY_MAX


class EntryContent(WireModel):
    """The fields of an entry as a client writes them: exactly one of `fields` and `pairs`."""

    fields: dict[str, str] | None = Field(
        None,
        min_length=1,
        max_length=FIELDS_PER_ENTRY_MAX,
        description="Names and values, in this order. Each name must be unique; use `pairs` to repeat a "
        "name.",
        examples=[FIELDS_EXAMPLE],
    )
    pairs: list[Pair] | None = Field(
        None,
        min_length=1,
        max_length=FIELDS_PER_ENTRY_MAX,
        description="Names and values as `[name, value]` pairs; names may repeat.",
        examples=[[["rider", "Castilla"], ["speed", "29.9"]]],
    )
    encoding: Literal["base64"] | None = Field(
        None,
        description="`base64`: all names and values of this entry are base64, so they can hold any bytes.",
        examples=["base64"],
    )

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if (self.fields is None) == (self.pairs is None):
            raise ValueError("give exactly one of `fields` and `pairs`")
        return self


class EntryToAppend(EntryContent):
    """One entry of a batch, or one line of an import with `shape=entry`."""

    id: str | None = Field(
        None,
        description="The id: `ms-seq`, `ms`, or `ms-*`. With `*` (the default) the server chooses the id.",
        examples=["*"],
    )


class Trimming(WireModel):
    """Which entries a trim removes: all but the newest `max_length`, or those below `min_id`. Give exactly
    one of the two."""

    model_config = ConfigDict(json_schema_extra={"example": {"max_length": 2}})

    max_length: Count | None = Field(
        None, description="How many entries to keep, the newest ones.", examples=[1000]
    )
    min_id: str | None = Field(
        None,
        description="The smallest id to keep; the trim removes all entries below it.",
        examples=["1692632094485-0"],
    )
    approximate: bool = Field(
        False,
        description="Remove only whole blocks of entries. This is faster, but may keep more entries than "
        "asked for.",
        examples=[True],
    )
    limit: Count | None = Field(
        None,
        description="With `approximate`: how many entries to remove at most; 0 means no limit.",
        examples=[10000],
    )
    references: ReferencesField = "keep"

    @model_validator(mode="after")
    def _one_threshold(self) -> Self:
        if (self.max_length is None) == (self.min_id is None):
            raise ValueError("give exactly one of `max_length` and `min_id`")
        if self.limit is not None and not self.approximate:
            raise ValueError("`limit` needs `approximate`")
        return self


class XaddBody(EntryToAppend):
    """One entry to append."""

    model_config = ConfigDict(json_schema_extra={"example": {"fields": FIELDS_EXAMPLE}})

    trim: Trimming | None = Field(
        None, description="Trim the stream in the same atomic step.", examples=[{"max_length": 1000}]
    )
    nomkstream: bool = Field(
        False,
        description="If the stream does not exist, fail with 404 instead of creating it.",
        examples=[True],
    )
    if_last_id: str | None = Field(
        None,
        description="Append only if this is the stream's last id (`0-0` if there is no stream); otherwise "
        "fail with 412.",
        examples=["1692632102976-0"],
    )
    delay_ms: DelayMs = None
    deliver_at_ms: DeliverAtMs = None


class XaddReply(WireModel):
    """The id of the new entry."""

    model_config = ConfigDict(json_schema_extra={"example": {"id": "1692632147973-0"}})

    id: EntryId


class XaddBatchBody(WireModel):
    """Entries to append in this order: either all of them are appended, or none."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "entries": [
                    {"fields": {"rider": "Castilla", "speed": "29.9"}},
                    {"pairs": [["rider", "Norem"], ["speed", "28.8"]]},
                ]
            }
        }
    )

    entries: list[EntryToAppend] = Field(
        min_length=1,
        max_length=BATCH_ENTRIES_MAX,
        description="The entries to append.",
        examples=[[{"fields": {"rider": "Castilla"}}]],
    )
    trim: Trimming | None = Field(
        None, description="Trim the stream in the same atomic step.", examples=[{"max_length": 1000}]
    )
    if_last_id: str | None = Field(
        None,
        description="Append only if this is the stream's last id (`0-0` if there is no stream); otherwise "
        "fail with 412.",
        examples=["1692632102976-0"],
    )
    delay_ms: DelayMs = None
    deliver_at_ms: DeliverAtMs = None


class ImportCheck(WireModel):
    """What an import would do."""

    model_config = ConfigDict(json_schema_extra={"example": {"known": False, "count": 2}})

    known: bool = Field(
        description="True if an import with this idempotency key appended the lines earlier; false if the "
        "import would append them now.",
        examples=[False],
    )
    count: int = Field(description="How many entries the body has.", examples=[2])


class BatchReply(WireModel):
    """The entries that a batch or an import appended."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"count": 2, "first_id": "1692632147973-0", "last_id": "1692632147973-1"}
        }
    )

    count: int = Field(description="How many entries were appended.", examples=[2])
    first_id: str = Field(description="The id of the first appended entry.", examples=["1692632147973-0"])
    last_id: str = Field(description="The id of the last appended entry.", examples=["1692632147973-1"])
    ids: list[str] | None = Field(
        None,
        description="The ids of all appended entries, in order; only with `ids=true`.",
        examples=[["1692632147973-0", "1692632147973-1"]],
    )


EPOCH_EXAMPLE: Final[JsonDict] = {"epoch": 1, "layout": "4 partitions", "keys": 1}


class EpochState(WireModel):
    """An epoch of a producer."""

    epoch: int = Field(description="The number of the epoch.", examples=[1])
    layout: str | None = Field(
        description="The layout of the epoch (`Producer-Layout`); null if no request named one.",
        examples=["4 partitions"],
    )
    keys: int = Field(description="How many idempotency keys the epoch has.", examples=[1])


class ProducerState(WireModel):
    """What a stream remembers of a producer."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"producer": "timing-gate-1", "epochs": [EPOCH_EXAMPLE]}}
    )

    producer: str = Field(description="The producer.", examples=["timing-gate-1"])
    encoding: NameEncodingField = None
    epochs: list[EpochState] = Field(
        description="The last epoch and the current one, in this order; empty if the stream remembers none.",
        examples=[[EPOCH_EXAMPLE]],
    )


class TakeOverBody(WireModel):
    """The epoch to take over, as it must be now, and its new layout."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"epoch": 1, "replaces": "4 partitions", "layout": "4 partitions; run 2", "keys": 1}
        }
    )

    epoch: Count = Field(description="The number of the epoch.", examples=[1])
    replaces: str = Field(description="The layout that the epoch must have now.", examples=["4 partitions"])
    layout: str = Field(description="The new layout.", examples=["4 partitions; run 2"])
    keys: Count = Field(description="How many idempotency keys the epoch must have now.", examples=[1])
