"""The requests that a client can send over a WebSocket: one model for each op, without unknown members.

The codecs decode `append` and `command` faster, without these models. Their models document them, and
describe the mistakes of an invalid request.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import ConfigDict, Field, WithJsonSchema

from tailrace.api.schemas.appends import EntryContent, Trimming
from tailrace.api.schemas.base import (
    INCARNATION_EXAMPLE,
    EntryIds,
    Milliseconds,
    NameEncodingField,
    WireModel,
)
from tailrace.api.schemas.entries import FIELDS_EXAMPLE
from tailrace.api.schemas.pending import AckBody, NackBody
from tailrace.api.schemas.scheduled import DelayMs, DeliverAtMs
from tailrace.api.websocket_limits import CREDIT_MAX, FILTER_FIELDS_MAX, FILTER_VALUES_MAX
from tailrace.core.limits import COMMAND_ARGUMENTS_MAX, FILTER_CHARACTERS_MAX, READ_STREAMS_MAX

RequestId: TypeAlias = int | str

Name: TypeAlias = Annotated[str | bytes, WithJsonSchema({"type": "string"})]
"""Text in JSON; `str` or `bin` in MessagePack."""


class Request(WireModel):
    """A request. Its reply has the same `id`."""

    id: RequestId = Field(
        description="An id that the client chooses. The reply has the same `id`, and the pushes of a "
        "subscription have it as `sub`.",
        examples=[7],
    )


class CommandRequest(Request):
    """Run a Redis command. `BLOCK` does not wait; use subscriptions to wait for entries."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"id": 1, "op": "command", "command": ["XLEN", "race:france"]}}
    )

    op: Literal["command"]
    command: list[str | int | dict[Literal["base64"], str]] = Field(
        min_length=1,
        max_length=COMMAND_ARGUMENTS_MAX,
        description='The words of the command: strings, integers, or `{"base64": "..."}` (msgpack: `bin`).',
        examples=[["XLEN", "race:france"]],
    )


class AppendRequest(Request, EntryContent):
    """Append one entry, with exactly one of `fields` and `pairs`. With `encoding`, the key is base64 too."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"id": 2, "op": "append", "key": "race:france", "fields": FIELDS_EXAMPLE}
        }
    )

    op: Literal["append"]
    key: str = Field(description="The stream's key.", examples=["race:france"])
    entry_id: str | None = Field(
        None, description="The id of the entry: `ms-seq`, `ms`, `ms-*`, or `*` (the default).", examples=["*"]
    )
    trim: Trimming | None = Field(
        None, description="Trim the stream in the same atomic step.", examples=[{"max_length": 1000}]
    )
    nomkstream: bool = Field(
        default=False,
        description="If the stream does not exist, fail instead of creating it.",
        examples=[True],
    )
    if_last_id: str | None = Field(
        None, description="Append only if this is the stream's last id.", examples=["1692632102976-0"]
    )
    delay_ms: DelayMs = None
    deliver_at_ms: DeliverAtMs = None


class GroupRequest(Request):
    """A request about entries of one group of one stream."""

    key: Name = Field(description="The stream's key.", examples=["race:france"])
    group: Name = Field(description="The consumer group.", examples=["judges"])
    encoding: NameEncodingField = None


class AckRequest(GroupRequest, AckBody):
    """Acknowledge entries. Any connection can do this."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "id": 6,
                "op": "ack",
                "key": "race:france",
                "group": "judges",
                "ids": ["1692632086370-0"],
            }
        }
    )

    op: Literal["ack"]


class NackRequest(GroupRequest, NackBody):
    """Return entries to their group unprocessed (nack). The next claim takes them first."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "id": 7,
                "op": "nack",
                "key": "race:france",
                "group": "judges",
                "ids": ["1692632086370-0"],
                "mode": "fail",
            }
        }
    )

    op: Literal["nack"]


class ClaimRequest(GroupRequest):
    """Claim pending entries for a consumer, if they have been idle long enough."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "id": 8,
                "op": "claim",
                "key": "race:france",
                "group": "judges",
                "consumer": "alice",
                "min_idle_ms": 0,
                "ids": ["1692632086370-0"],
            }
        }
    )

    op: Literal["claim"]
    consumer: Name = Field(
        description="The consumer that takes the entries over; created if it does not exist.",
        examples=["alice"],
    )
    ids: EntryIds
    min_idle_ms: Milliseconds = Field(
        description="Claim only entries whose last delivery is at least this many milliseconds ago.",
        examples=[30000],
    )
    just_id: bool = Field(
        default=False, description="Return only ids, and do not count a delivery.", examples=[False]
    )


class ExtendRequest(GroupRequest):
    """Begin the idle time of a consumer's own pending entries again (a heartbeat)."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "id": 9,
                "op": "extend",
                "key": "race:france",
                "group": "judges",
                "consumer": "alice",
                "ids": ["1692632086370-0"],
            }
        }
    )

    op: Literal["extend"]
    consumer: Name = Field(description="The consumer that owns the entries.", examples=["alice"])
    ids: EntryIds


class PingRequest(Request):
    """Do nothing, and reply in order. The server also answers pings of the WebSocket protocol."""

    model_config = ConfigDict(json_schema_extra={"example": {"id": 10, "op": "ping"}})

    op: Literal["ping"]


# --- subscriptions ----------------------------------------------------------------------------------


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


REQUESTS: Final[dict[str, type[Request]]] = {
    "command": CommandRequest,
    "append": AppendRequest,
    "subscribe": SubscribeRequest,
    "consume": ConsumeRequest,
    "credit": CreditRequest,
    "ack": AckRequest,
    "nack": NackRequest,
    "claim": ClaimRequest,
    "extend": ExtendRequest,
    "unsubscribe": UnsubscribeRequest,
    "ping": PingRequest,
}
"""The model of each op."""
