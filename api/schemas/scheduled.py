"""Wire models of scheduled entries: when to deliver them, their list, and the limits of delays."""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from tailrace.api.schemas.base import I64_MAX, WireModel
from tailrace.api.schemas.entries import FIELDS_EXAMPLE, Pair

SCHEDULED_ID_EXAMPLE: Final = "s1692632207973-1692632147973000"
_TIME_EXAMPLE: Final = 1_692_632_207_973

DelayMs: TypeAlias = Annotated[
    Annotated[int, Field(ge=0, le=I64_MAX)] | None,
    Field(
        description="Append later: after this many milliseconds, a year (`delay_ms_max`) at most. Until then "
        "the server stores the entry, and no reader sees it. It gets its id when it is appended.",
        examples=[60_000],
    ),
]
DeliverAtMs: TypeAlias = Annotated[
    Annotated[int, Field(ge=0, le=I64_MAX)] | None,
    Field(
        description="Append later: at this time, in Unix milliseconds. A time in the past is due at once. "
        "Not together with `delay_ms`.",
        examples=[_TIME_EXAMPLE],
    ),
]
ScheduledIdField: TypeAlias = Annotated[
    str,
    Field(
        description="The scheduled id: an opaque text, not an entry id. It can cancel the entry.",
        examples=[SCHEDULED_ID_EXAMPLE],
    ),
]
DeliveryTimeField: TypeAlias = Annotated[
    int,
    Field(description="When the entry is appended, in Unix milliseconds.", examples=[_TIME_EXAMPLE]),
]

SCHEDULED_EXAMPLE: Final[JsonDict] = {"scheduled_id": SCHEDULED_ID_EXAMPLE, "deliver_at_ms": _TIME_EXAMPLE}
SCHEDULED_ENTRY_EXAMPLE: Final[JsonDict] = {**SCHEDULED_EXAMPLE, "fields": FIELDS_EXAMPLE}


class ScheduledReply(WireModel):
    """An entry that is stored, and appended later."""

    model_config = ConfigDict(json_schema_extra={"example": SCHEDULED_EXAMPLE})

    scheduled_id: ScheduledIdField
    deliver_at_ms: DeliveryTimeField


class ScheduledBatchReply(WireModel):
    """Entries that are stored, and appended later, all at the same time."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"count": 1, "deliver_at_ms": _TIME_EXAMPLE, "scheduled_ids": [SCHEDULED_ID_EXAMPLE]}
        }
    )

    count: int = Field(description="How many entries were stored.", examples=[1])
    deliver_at_ms: DeliveryTimeField
    scheduled_ids: list[str] = Field(
        description="The scheduled ids, in the order of the entries.", examples=[[SCHEDULED_ID_EXAMPLE]]
    )


class ScheduledEntry(WireModel):
    """An entry that is not appended yet. It has `fields`, or `pairs`, as other entries."""

    model_config = ConfigDict(json_schema_extra={"example": SCHEDULED_ENTRY_EXAMPLE})

    scheduled_id: ScheduledIdField
    deliver_at_ms: DeliveryTimeField
    fields: dict[str, str] | None = Field(
        None, description="Names and values, in the order of the request.", examples=[FIELDS_EXAMPLE]
    )
    pairs: list[Pair] | None = Field(
        None, description="Names and values as `[name, value]` pairs.", examples=[[["rider", "Castilla"]]]
    )
    encoding: Literal["base64"] | None = Field(
        None, description="`base64`: all names and values are base64.", examples=["base64"]
    )


class ScheduledPage(WireModel):
    """A page of scheduled entries, in the order in which they are appended."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"scheduled": [SCHEDULED_ENTRY_EXAMPLE], "next": None}}
    )

    scheduled: list[ScheduledEntry] = Field(
        description="The entries, by time; entries of equal time in the order of their requests.",
        examples=[[SCHEDULED_ENTRY_EXAMPLE]],
    )
    next: str | None = Field(
        description="Send it as `after` for the next page; null on the last page.",
        examples=[SCHEDULED_ID_EXAMPLE],
    )
