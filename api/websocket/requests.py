"""What a client may send over a WebSocket: one model an op, strict, and closed to members not named.

It owns names, bounds and words of requests. `append` and `command` are read faster, by the codecs; their
models here document them and say what is wrong with a request that was refused.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import ConfigDict, Field, WithJsonSchema

from tailrace.api.schemas.appends import EntryContent, Trimming
from tailrace.api.schemas.base import EntryIds, Milliseconds, NameEncodingField, WireModel
from tailrace.api.schemas.entries import FIELDS_EXAMPLE
from tailrace.api.schemas.pending import AckBody, NackBody
from tailrace.api.websocket_limits import CREDIT_MAX, FILTER_FIELDS_MAX, FILTER_VALUES_MAX
from tailrace.core.limits import COMMAND_ARGUMENTS_MAX, READ_STREAMS_MAX

RequestId: TypeAlias = int | str

Name: TypeAlias = Annotated[str | bytes, WithJsonSchema({"type": "string"})]
"""Text in JSON; `str` or `bin` in MessagePack."""

CreditCount: TypeAlias = Annotated[int, Field(ge=0, le=CREDIT_MAX)]


class Request(WireModel):
    """A request. Its reply carries the same `id`."""

    id: RequestId = Field(
        description="Chosen by the client, echoed in the reply. Of a subscription also the name in pushes.",
        examples=[7],
    )


class Credit(WireModel):
    """How much more may be pushed."""

    model_config = ConfigDict(json_schema_extra={"example": {"entries": 100}})

    entries: CreditCount = Field(description="Entries, in addition to what is left.", examples=[100])
    bytes: CreditCount | None = Field(
        None,
        description=(
            "Bytes of entries (their fields as JSON), in addition. Once given it bounds the subscription "
            "as well; the last entry may overshoot."
        ),
        examples=[1048576],
    )


FirstCredit: TypeAlias = Annotated[
    CreditCount | Credit,
    Field(description="The first credit: a number of entries, or an object as in `credit`.", examples=[100]),
]


class CommandRequest(Request):
    """A Redis command. `BLOCK` does not wait here: subscriptions do."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"id": 1, "op": "command", "command": ["XLEN", "race:france"]}}
    )

    op: Literal["command"]
    command: list[str | int | dict[Literal["base64"], str]] = Field(
        min_length=1,
        max_length=COMMAND_ARGUMENTS_MAX,
        description='Its words: strings, integers, or `{"base64": "..."}` (in MessagePack: `bin`).',
        examples=[["XLEN", "race:france"]],
    )


class AppendRequest(Request, EntryContent):
    """Append one entry: exactly one of `fields` and `pairs`. With `encoding` the key is base64 as well."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"id": 2, "op": "append", "key": "race:france", "fields": FIELDS_EXAMPLE}
        }
    )

    op: Literal["append"]
    key: str = Field(description="The stream's key.", examples=["race:france"])
    entry_id: str | None = Field(
        None, description="`ms-seq`, `ms`, `ms-*`, or `*` (the default).", examples=["*"]
    )
    trim: Trimming | None = Field(
        None, description="Trim the stream in the same step.", examples=[{"max_length": 1000}]
    )
    nomkstream: bool = Field(
        default=False,
        description="Refuse where there is no such stream, in place of creating it.",
        examples=[True],
    )
    if_last_id: str | None = Field(
        None, description="Append only if this is the stream's last id.", examples=["1692632102976-0"]
    )


class StreamPosition(WireModel):
    """A stream and where to go on from."""

    key: Name = Field(description="The stream's key.", examples=["race:france"])
    encoding: NameEncodingField = None
    after: str = Field(
        description="Entries after this id; `$`: only what comes from now on; `+`: from the last entry on.",
        examples=["$"],
    )


class GroupStream(WireModel):
    """A stream that has the group."""

    key: Name = Field(description="The stream's key.", examples=["race:france"])
    encoding: NameEncodingField = None


FilterValues: TypeAlias = Name | Annotated[list[Name], Field(min_length=1, max_length=FILTER_VALUES_MAX)]


class SubscribeRequest(Request):
    """Have entries of streams pushed as they come, each to every subscriber."""

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
        description="The streams; one that does not exist yet is waited for.",
        examples=[[{"key": "race:france", "after": "$"}]],
    )
    filter: Annotated[dict[Name, FilterValues], Field(min_length=1, max_length=FILTER_FIELDS_MAX)] | None = (
        Field(
            None,
            description=(
                "Push only entries in which each of these fields has this value, or one of these. "
                "Others are passed over and take no credit."
            ),
            examples=[{"rider": ["Castilla", "Norem"]}],
        )
    )
    encoding: NameEncodingField = None
    credit: FirstCredit = 0


class ConsumeRequest(Request):
    """Have entries of a group pushed to one of its consumers. All streams must have the group."""

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
    group: Name = Field(description="The group.", examples=["judges"])
    consumer: Name = Field(
        description="The consumer, created if new; use it on one connection only.",
        examples=["alice"],
    )
    encoding: NameEncodingField = None
    streams: list[GroupStream] = Field(
        min_length=1,
        max_length=READ_STREAMS_MAX,
        description="The streams.",
        examples=[[{"key": "race:france"}]],
    )
    claim_min_idle_ms: Milliseconds | None = Field(
        None,
        description="Also take over what has been pending for anyone at least this long.",
        examples=[60000],
    )
    noack: bool = Field(
        default=False,
        description="New entries do not become pending: they need no acknowledgment.",
        examples=[False],
    )
    on_close: Literal["keep", "nack"] = Field(
        "keep",
        description=(
            "When the connection ends: `keep` leaves what it was given pending; `nack` gives it back at "
            "once, and the delivery does not count."
        ),
        examples=["nack"],
    )
    credit: FirstCredit = 0


class CreditRequest(Request, Credit):
    """Allow more pushes."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"id": 5, "op": "credit", "sub": 3, "entries": 100}}
    )

    op: Literal["credit"]
    sub: RequestId = Field(description="The subscription.", examples=[3])


class UnsubscribeRequest(Request):
    """End a subscription. What its consumer holds stays pending."""

    model_config = ConfigDict(json_schema_extra={"example": {"id": 9, "op": "unsubscribe", "sub": 3}})

    op: Literal["unsubscribe"]
    sub: RequestId = Field(description="The subscription.", examples=[3])


class GroupRequest(Request):
    """What concerns entries of one group of one stream."""

    key: Name = Field(description="The stream's key.", examples=["race:france"])
    group: Name = Field(description="The group.", examples=["judges"])
    encoding: NameEncodingField = None


class AckRequest(GroupRequest, AckBody):
    """Entries are done. Any connection may say so."""

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
    """Entries are given back: whoever claims first gets them first."""

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
    """Pending entries become this consumer's, if they have been idle long enough."""

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
    consumer: Name = Field(description="Who takes over; created if new.", examples=["alice"])
    ids: EntryIds
    min_idle_ms: Milliseconds = Field(
        description="Only what was delivered at least this long ago.", examples=[30000]
    )
    just_id: bool = Field(
        default=False, description="Answer ids only, and do not count a delivery.", examples=[False]
    )


class PingRequest(Request):
    """Nothing, answered in its turn; pings of the WebSocket protocol are answered as well."""

    model_config = ConfigDict(json_schema_extra={"example": {"id": 10, "op": "ping"}})

    op: Literal["ping"]


REQUESTS: Final[dict[str, type[Request]]] = {
    "command": CommandRequest,
    "append": AppendRequest,
    "subscribe": SubscribeRequest,
    "consume": ConsumeRequest,
    "credit": CreditRequest,
    "ack": AckRequest,
    "nack": NackRequest,
    "claim": ClaimRequest,
    "unsubscribe": UnsubscribeRequest,
    "ping": PingRequest,
}
"""The ops, and the model of each."""
