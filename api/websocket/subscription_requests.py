"""The requests that open, credit and end subscriptions."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import ConfigDict, Field

from tailrace.api.schemas.base import INCARNATION_EXAMPLE, Milliseconds, NameEncodingField, WireModel
from tailrace.api.websocket.request import Name, Request, RequestId
from tailrace.api.websocket_limits import CREDIT_MAX, FILTER_FIELDS_MAX, FILTER_VALUES_MAX
from tailrace.core.limits import FILTER_CHARACTERS_MAX, READ_STREAMS_MAX

CreditCount: TypeAlias = Annotated[int, Field(ge=0, le=CREDIT_MAX)]


class Credit(WireModel):
    """How much more the server may push."""

    model_config = ConfigDict(json_schema_extra={"example": {"entries": 100}})

    entries: CreditCount = Field(description="How many more entries the server may push.", examples=[100])
    bytes: CreditCount | None = Field(
        None,
        description=(
            "How many more bytes of entries (their fields as JSON) the server may push. The limit applies "
            "once it was given; the last entry may exceed it."
        ),
        examples=[1048576],
    )


FirstCredit: TypeAlias = Annotated[
    CreditCount | Credit,
    Field(
        description="The first credit: a number of entries, or an object with `entries` and `bytes`.",
        examples=[100],
    ),
]


class StreamPosition(WireModel):
    """A stream, and the position after which to push its entries."""

    key: Name = Field(description="The stream's key.", examples=["race:france"])
    encoding: NameEncodingField = None
    after: str = Field(
        description="Push entries after this id. `$`: only entries appended from now on. `+`: from the "
        "last entry on.",
        examples=["$"],
    )
    incarnation: str | None = Field(
        None,
        description="The incarnation of the stream in which an earlier subscription reached the id `after`. "
        "If the stream has another one now, the server pushes a `gap` and continues with the first entry. "
        "Empty: the earlier subscription did not learn it.",
        examples=[INCARNATION_EXAMPLE],
    )


class GroupStream(WireModel):
    """A stream of a group's subscription."""

    key: Name = Field(description="The stream's key.", examples=["race:france"])
    encoding: NameEncodingField = None


Condition: TypeAlias = Annotated[str, Field(max_length=FILTER_CHARACTERS_MAX)]
FilterValues: TypeAlias = Name | Annotated[list[Name], Field(min_length=1, max_length=FILTER_VALUES_MAX)]


FieldValues: TypeAlias = Annotated[
    dict[Name, FilterValues], Field(min_length=1, max_length=FILTER_FIELDS_MAX)
]


class SubscribeRequest(Request):
    """Subscribe to the entries of streams. Every subscriber receives all entries."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "id": 3,
                "op": "subscribe",
                "streams": [{"key": "race:france", "after": "$"}],
                "credit": 100,
            }
        }
    )

    op: Literal["subscribe"]
    streams: list[StreamPosition] = Field(
        min_length=1,
        max_length=READ_STREAMS_MAX,
        description="The streams. A stream may not exist yet.",
        examples=[[{"key": "race:france", "after": "$"}]],
    )
    filter: Condition | FieldValues | None = Field(
        None,
        description=(
            "Push only entries that match: a condition as in `GET .../entries`, or an object with a value or "
            "a list of values for each field. Other entries use no credit. After 1000 of them, a push "
            "without entries has the position as `next`."
        ),
        examples=['fields.rider == "Castilla"'],
    )
    encoding: NameEncodingField = None
    credit: FirstCredit = 0


class ConsumeRequest(Request):
    """Subscribe as a consumer of a group. The group must exist on all of the streams."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "id": 4,
                "op": "consume",
                "group": "judges",
                "consumer": "alice",
                "streams": [{"key": "race:france"}],
                "claim_min_idle_ms": 60000,
                "credit": 10,
            }
        }
    )

    op: Literal["consume"]
    group: Name = Field(description="The consumer group.", examples=["judges"])
    consumer: Name = Field(
        description="The consumer; created if it does not exist. Use it on one connection only.",
        examples=["alice"],
    )
    encoding: NameEncodingField = None
    streams: list[GroupStream] = Field(
        min_length=1,
        max_length=READ_STREAMS_MAX,
        description="The streams of the group.",
        examples=[[{"key": "race:france"}]],
    )
    claim_min_idle_ms: Milliseconds | None = Field(
        None,
        description="Also claim entries that have been pending for any consumer at least this many "
        "milliseconds.",
        examples=[60000],
    )
    noack: bool = Field(
        default=False,
        description="New entries do not become pending, so they need no acknowledgment.",
        examples=[False],
    )
    on_close: Literal["keep", "nack"] = Field(
        "keep",
        description=(
            "What happens to unacknowledged entries when the connection ends. `keep`: they stay pending. "
            "`nack`: the server returns them to the group at once, and the delivery does not count."
        ),
        examples=["nack"],
    )
    credit: FirstCredit = 0


class CreditRequest(Request, Credit):
    """Give a subscription more credit."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"id": 5, "op": "credit", "sub": 3, "entries": 100}}
    )

    op: Literal["credit"]
    sub: RequestId = Field(description="The id of the subscription.", examples=[3])


class UnsubscribeRequest(Request):
    """End a subscription. Entries that its consumer has not acknowledged stay pending."""

    model_config = ConfigDict(json_schema_extra={"example": {"id": 9, "op": "unsubscribe", "sub": 3}})

    op: Literal["unsubscribe"]
    sub: RequestId = Field(description="The id of the subscription.", examples=[3])
