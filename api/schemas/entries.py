"""Wire models of stored entries: reading, deleting, trimming, and splitting a range."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from tailrace.api.schemas.base import (
    INCARNATION_EXAMPLE,
    EntryId,
    EntryIds,
    IncarnationField,
    ReferencesField,
    WireModel,
)

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


class Entry(WireModel):
    """An entry. It has `fields`; or `pairs`, if a name repeats or the request has `shape=pairs`."""

    model_config = ConfigDict(json_schema_extra={"example": ENTRY_EXAMPLE})

    id: EntryId
    fields: dict[str, str] | None = Field(
        None,
        description="Names and values, in the order in which they were appended.",
        examples=[FIELDS_EXAMPLE],
    )
    pairs: list[Pair] | None = Field(
        None, description="Names and values as `[name, value]` pairs.", examples=[[["rider", "Castilla"]]]
    )
    encoding: Literal["base64"] | None = Field(
        None, description="`base64`: all names and values are base64.", examples=["base64"]
    )


class RangePage(WireModel):
    """A page of entries."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"entries": [ENTRY_EXAMPLE], "next": "1692632086370-0"}}
    )

    entries: list[Entry] = Field(
        description="The entries, in the order asked for.", examples=[[ENTRY_EXAMPLE]]
    )
    next: str | None = Field(
        description=(
            "The id of the page's last entry if more entries follow in the range, else null. For the next "
            "page send `start=(next`, or `end=(next` with `order=desc`. In a read with `after`, `next` is "
            "always an id (also if `after` was `$`): send it as the next `after`. With `filter`, a page with "
            "`next` can have no entries."
        ),
        examples=["1692632086370-0"],
    )
    scanned: int | None = Field(
        None,
        description="With `filter`: how many entries this request examined. `next` is then the last one.",
        examples=[100000],
    )
    matched: int | None = Field(
        None, description="With `filter`: how many of them match; all are in `entries`.", examples=[1]
    )


class DeleteBody(WireModel):
    """Entries to delete."""

    model_config = ConfigDict(json_schema_extra={"example": {"ids": ["1692632086370-0", "1-0"]}})

    ids: EntryIds
    references: ReferencesField = "keep"


class DeleteOutcome(WireModel):
    """The result for one id."""

    id: EntryId
    result: Literal["deleted", "referenced", "not_found"] = Field(
        description="`referenced`: the entry was kept, because a group still refers to it.",
        examples=["deleted"],
    )


class DeleteReply(WireModel):
    """The result for each id."""

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

    deleted: int = Field(description="How many entries were deleted.", examples=[1])
    results: list[DeleteOutcome] = Field(
        description="One item for each id of the request, in the same order.",
        examples=[[{"id": "1692632086370-0", "result": "deleted"}]],
    )


class TrimReply(WireModel):
    """How much a trim removed."""

    model_config = ConfigDict(json_schema_extra={"example": {"trimmed": 1}})

    trimmed: int = Field(description="Entries removed.", examples=[1])


class SplitPart(WireModel):
    """One part of a range."""

    start: str = Field(description="The smallest id of the part, inclusive.", examples=["1692632086370-0"])
    end: str = Field(description="The greatest id of the part, inclusive.", examples=["1692632094485-0"])
    count: int = Field(description="How many entries the part has.", examples=[2])


SPLIT_EXAMPLE: Final[JsonDict] = {
    "parts": [
        {"start": "0-0", "end": "1692632094484-18446744073709551615", "count": 1},
        {"start": "1692632094485-0", "end": "18446744073709551615-18446744073709551615", "count": 2},
    ],
    "count": 3,
    "incarnation": INCARNATION_EXAMPLE,
}


class SplitPlan(WireModel):
    """Consecutive parts of about equal size that together cover the whole range."""

    model_config = ConfigDict(json_schema_extra={"example": SPLIT_EXAMPLE})

    parts: list[SplitPart] = Field(
        description="The parts, in id order.",
        examples=[[{"start": "1692632086370-0", "end": "1692632094485-0", "count": 2}]],
    )
    count: int = Field(description="How many entries the whole range has.", examples=[3])
    incarnation: IncarnationField = None


class SeekPosition(WireModel):
    """Where a page of `count` entries ends."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"end": "1692632094485-0", "count": 2, "incarnation": INCARNATION_EXAMPLE}
        }
    )

    end: str | None = Field(
        description="The id of the page's last entry; null if there is no entry at or after the start.",
        examples=["1692632094485-0"],
    )
    count: int = Field(
        description="How many entries the page has; fewer than asked for at the end of the stream.",
        examples=[2],
    )
    incarnation: IncarnationField = None
