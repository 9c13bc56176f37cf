"""Wire models of entries: what is appended, read, deleted, trimmed and planned."""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic.config import JsonDict

from tailrace.api.schemas.base import Count, EntryId, EntryIds, ReferencesField, WireModel
from tailrace.core.limits import BATCH_ENTRIES_MAX, FIELDS_PER_ENTRY_MAX

FIELDS_EXAMPLE: Final[JsonDict] = {"rider": "Castilla", "speed": "29.9", "position": "1", "location_id": "2"}
ENTRY_EXAMPLE: Final[JsonDict] = {
    "id": "1692632086370-0",
    "fields": {"rider": "Castilla", "speed": "30.2", "position": "1", "location_id": "1"},
}

LAST_ENTRY_EXAMPLE: Final[JsonDict] = {
    "id": "1692632102976-0",
    "fields": {"rider": "Prickett", "speed": "29.7", "position": "2", "location_id": "1"},
}

Pair = Annotated[list[str], Field(min_length=2, max_length=2)]


class EntryContent(WireModel):
    """The fields of an entry as a client writes them: exactly one of `fields` and `pairs`."""

    fields: dict[str, str] | None = Field(
        None,
        min_length=1,
        max_length=FIELDS_PER_ENTRY_MAX,
        description="Names and values, in this order. A name that repeats is refused: send `pairs`.",
        examples=[FIELDS_EXAMPLE],
    )
    pairs: list[Pair] | None = Field(
        None,
        min_length=1,
        max_length=FIELDS_PER_ENTRY_MAX,
        description="The same as `[name, value]` pairs; names may repeat.",
        examples=[[["rider", "Castilla"], ["speed", "29.9"]]],
    )
    encoding: Literal["base64"] | None = Field(
        None,
        description="`base64`: all names and values of this entry are base64, for any bytes.",
        examples=["base64"],
    )

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if (self.fields is None) == (self.pairs is None):
            raise ValueError("exactly one of `fields` and `pairs` is needed")
        return self


class EntryToAppend(EntryContent):
    """One entry of a batch, or one line of an import with `shape=entry`."""

    id: str | None = Field(
        None,
        description="`ms-seq`, `ms`, `ms-*`, or `*` (the default): the server chooses the id.",
        examples=["*"],
    )


class Trimming(WireModel):
    """Which entries go: all but the newest `max_length`, or those below `min_id`. Exactly one."""

    model_config = ConfigDict(json_schema_extra={"example": {"max_length": 2}})

    max_length: Count | None = Field(None, description="Entries to keep.", examples=[1000])
    min_id: str | None = Field(None, description="The least id to keep.", examples=["1692632094485-0"])
    approximate: bool = Field(
        False,
        description="Remove only whole blocks, which is cheaper: some more entries may stay.",
        examples=[True],
    )
    limit: Count | None = Field(
        None,
        description="With `approximate`: the most entries to remove at once; 0 is no bound.",
        examples=[10000],
    )
    references: ReferencesField = "keep"

    @model_validator(mode="after")
    def _one_threshold(self) -> Self:
        if (self.max_length is None) == (self.min_id is None):
            raise ValueError("exactly one of `max_length` and `min_id` is needed")
        if self.limit is not None and not self.approximate:
            raise ValueError("`limit` needs `approximate`")
        return self


class XaddBody(EntryToAppend):
    """An append of one entry."""

    model_config = ConfigDict(json_schema_extra={"example": {"fields": FIELDS_EXAMPLE}})

    trim: Trimming | None = Field(
        None, description="Trim the stream in the same step.", examples=[{"max_length": 1000}]
    )
    nomkstream: bool = Field(
        False,
        description="Refuse (404) where there is no such stream, in place of creating it.",
        examples=[True],
    )
    if_last_id: str | None = Field(
        None,
        description="Append only if this is the stream's last id (`0-0` where there is no stream); else 412.",
        examples=["1692632102976-0"],
    )


class XaddReply(WireModel):
    """The id of the new entry."""

    model_config = ConfigDict(json_schema_extra={"example": {"id": "1692632147973-0"}})

    id: EntryId


class XaddBatchBody(WireModel):
    """Entries to append in order, all or none."""

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
        description="The entries.",
        examples=[[{"fields": {"rider": "Castilla"}}]],
    )
    trim: Trimming | None = Field(
        None, description="Trim the stream in the same step.", examples=[{"max_length": 1000}]
    )
    if_last_id: str | None = Field(
        None,
        description="Append only if this is the stream's last id (`0-0` where there is no stream); else 412.",
        examples=["1692632102976-0"],
    )


class BatchReply(WireModel):
    """What a batch or an import appended."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"count": 2, "first_id": "1692632147973-0", "last_id": "1692632147973-1"}
        }
    )

    count: int = Field(description="Entries appended.", examples=[2])
    first_id: str = Field(description="Id of the first.", examples=["1692632147973-0"])
    last_id: str = Field(description="Id of the last.", examples=["1692632147973-1"])
    ids: list[str] | None = Field(
        None,
        description="All ids in order; only with `ids=true`.",
        examples=[["1692632147973-0", "1692632147973-1"]],
    )


class Entry(WireModel):
    """An entry: `fields`, or `pairs` where a name repeats or `shape=pairs` asks for it."""

    model_config = ConfigDict(json_schema_extra={"example": ENTRY_EXAMPLE})

    id: EntryId
    fields: dict[str, str] | None = Field(
        None, description="Names and values in their order.", examples=[FIELDS_EXAMPLE]
    )
    pairs: list[Pair] | None = Field(
        None, description="The same as `[name, value]` pairs.", examples=[[["rider", "Castilla"]]]
    )
    encoding: Literal["base64"] | None = Field(
        None, description="`base64`: all names and values are base64.", examples=["base64"]
    )


class RangePage(WireModel):
    """A page of entries."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"entries": [ENTRY_EXAMPLE], "next": "1692632086370-0"}}
    )

    entries: list[Entry] = Field(description="The entries in order.", examples=[[ENTRY_EXAMPLE]])
    next: str | None = Field(
        description=(
            "Where to read on: the id of the last entry if others follow in the range, else null "
            "(`start=(next`; with `order=desc` `end=(next`). With `after` it is always there: the position "
            "for the next `after`, `$` resolved."
        ),
        examples=["1692632086370-0"],
    )


class DeleteBody(WireModel):
    """Entries to delete."""

    model_config = ConfigDict(json_schema_extra={"example": {"ids": ["1692632086370-0", "1-0"]}})

    ids: EntryIds
    references: ReferencesField = "keep"


class DeleteOutcome(WireModel):
    """What became of one id."""

    id: EntryId
    result: Literal["deleted", "referenced", "not_found"] = Field(
        description="`referenced`: it stays, since a group still refers to it.", examples=["deleted"]
    )


class DeleteReply(WireModel):
    """What became of each id."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "deleted": 1,
                "results": [
                    {"id": "1692632086370-0", "result": "deleted"},
                    {"id": "1-0", "result": "not_found"},
                ],
            }
        }
    )

    deleted: int = Field(description="How many were deleted.", examples=[1])
    results: list[DeleteOutcome] = Field(
        description="One item for each id asked for, in that order.",
        examples=[[{"id": "1692632086370-0", "result": "deleted"}]],
    )


class TrimReply(WireModel):
    """How much a trim removed."""

    model_config = ConfigDict(json_schema_extra={"example": {"trimmed": 1}})

    trimmed: int = Field(description="Entries removed.", examples=[1])


class SplitPart(WireModel):
    """One part of a range."""

    start: str = Field(description="Its least id, inclusive.", examples=["1692632086370-0"])
    end: str = Field(description="Its greatest id, inclusive.", examples=["1692632094485-0"])
    count: int = Field(description="Entries in it.", examples=[2])


SPLIT_EXAMPLE: Final[JsonDict] = {
    "parts": [
        {"start": "0-0", "end": "1692632094484-18446744073709551615", "count": 1},
        {"start": "1692632094485-0", "end": "18446744073709551615-18446744073709551615", "count": 2},
    ],
    "count": 3,
}


class SplitPlan(WireModel):
    """Parts of about equal size that cover a range without gap or overlap."""

    model_config = ConfigDict(json_schema_extra={"example": SPLIT_EXAMPLE})

    parts: list[SplitPart] = Field(
        description="The parts in order.",
        examples=[[{"start": "1692632086370-0", "end": "1692632094485-0", "count": 2}]],
    )
    count: int = Field(description="Entries in the whole range.", examples=[3])


class SeekPosition(WireModel):
    """Where a page of `count` entries ends."""

    model_config = ConfigDict(json_schema_extra={"example": {"end": "1692632094485-0", "count": 2}})

    end: str | None = Field(
        description="Id of the page's last entry; null where no entry is at or after the start.",
        examples=["1692632094485-0"],
    )
    count: int = Field(description="Entries in the page; fewer where the stream ends.", examples=[2])
