"""The requests that a client can send over a WebSocket: one model for each op, without unknown members.

The codecs decode `append` and `command` faster, without these models. Their models document them, and
describe the mistakes of an invalid request.
"""

from __future__ import annotations

from typing import Final, Literal

from pydantic import ConfigDict, Field

from tailrace.api.schemas.appends import EntryContent, Trimming
from tailrace.api.schemas.base import EntryIds, Milliseconds, NameEncodingField
from tailrace.api.schemas.entries import FIELDS_EXAMPLE
from tailrace.api.schemas.pending import AckBody, NackBody
from tailrace.api.schemas.scheduled import DelayMs, DeliverAtMs
from tailrace.api.websocket.request import Name, Request
from tailrace.api.websocket.subscription_requests import (
    ConsumeRequest,
    CreditRequest,
    SubscribeRequest,
    UnsubscribeRequest,
)
from tailrace.core.limits import COMMAND_ARGUMENTS_MAX


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
