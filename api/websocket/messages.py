"""Models of the messages that the server sends. They document the messages; the server writes without them.

Tests validate the frames of the server against these models.
"""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from tailrace.api.schemas.base import INCARNATION_EXAMPLE, NameEncodingField, WireModel
from tailrace.api.schemas.entries import ENTRY_EXAMPLE, Entry
from tailrace.api.schemas.problem import Problem
from tailrace.api.schemas.reads import DeliveredEntry
from tailrace.api.websocket.requests import RequestId


class Hello(WireModel):
    """The version, subprotocol and limits of the server."""

    version: str = Field(description="The server's version.", examples=["1.0.0"])
    subprotocol: str = Field(description="The subprotocol of this connection.", examples=["tailrace.v1.json"])
    limits: dict[str, int] = Field(
        description="The limits of a connection, by name.", examples=[{"subscriptions_max": 100}]
    )


class HelloMessage(WireModel):
    """The first message of the server."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "hello": {
                    "version": "1.0.0",
                    "subprotocol": "tailrace.v1.json",
                    "limits": {"subscriptions_max": 100},
                }
            }
        }
    )

    hello: Hello


class OkMessage(WireModel):
    """The reply to a request that succeeded. The members of `ok` depend on the op."""

    model_config = ConfigDict(json_schema_extra={"example": {"id": 2, "ok": {"id": "1692632147973-0"}}})

    id: RequestId = Field(description="The id of the request.", examples=[2])
    ok: dict[str, Any] = Field(description="The result of the request.", examples=[{"id": "1692632147973-0"}])


class ErrorMessage(WireModel):
    """The reply to a request that failed and changed nothing. The connection stays open."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "id": 4,
                "error": {
                    "type": "/problems/nogroup",
                    "title": "The consumer group does not exist",
                    "status": 404,
                    "detail": (
                        "the stream 'race:france' has no consumer group 'judges'; create it with "
                        "PUT /v1/streams/{key}/groups/{group}"
                    ),
                    "code": "NOGROUP",
                    "retryable": False,
                    "side_effects": "none",
                    "request_id": None,
                },
            }
        }
    )

    id: RequestId | None = Field(
        description="The id of the request; null if the request has no valid id.", examples=[4]
    )
    error: Problem


class EntriesPush(WireModel):
    """Entries of one stream of a subscription. Entries of a group also have `idle_ms` and `deliveries`."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "sub": 3,
                "key": "race:france",
                "entries": [ENTRY_EXAMPLE],
                "next": "1692632086370-0",
            }
        }
    )

    sub: RequestId = Field(description="The id of the subscription.", examples=[3])
    key: str = Field(description="The stream's key.", examples=["race:france"])
    encoding: NameEncodingField = None
    entries: list[DeliveredEntry | Entry] = Field(description="The entries.", examples=[[ENTRY_EXAMPLE]])
    next: str = Field(
        description="The position of the subscription after this push: to continue later, send it as "
        "`after`.",
        examples=["1692632086370-0"],
    )
    incarnation: str | None = Field(
        None,
        description="The incarnation of the stream, in the first push of a stream that did not exist before. "
        "Send it back together with `after`.",
        examples=[INCARNATION_EXAMPLE],
    )


class GapBounds(WireModel):
    """The ids between which entries are missing."""

    after: str = Field(
        alias="from", description="Entries after this id are missing.", examples=["1692632086370-0"]
    )
    before: str = Field(
        alias="to", description="Entries before this id are missing.", examples=["1692632102976-0"]
    )
    incarnation: str | None = Field(
        None,
        description="Present if the stream was deleted or created again: its incarnation now, null if it has "
        "none. `to` is then its first entry.",
        examples=[INCARNATION_EXAMPLE],
    )


class GapPush(WireModel):
    """Entries between two ids were trimmed before the server could push them."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "sub": 3,
                "key": "race:france",
                "gap": {"from": "1692632086370-0", "to": "1692632102976-0"},
            }
        }
    )

    sub: RequestId = Field(description="The id of the subscription.", examples=[3])
    key: str = Field(description="The stream's key.", examples=["race:france"])
    encoding: NameEncodingField = None
    gap: GapBounds


class EndPush(WireModel):
    """A subscription ended, because its group was deleted, the token ended, or the server shuts down."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "sub": 4,
                "end": {
                    "type": "/problems/not-accepting",
                    "title": "The server does not accept this request now",
                    "status": 503,
                    "detail": "the server is shutting down",
                    "code": "NOT_ACCEPTING",
                    "retryable": True,
                    "side_effects": "none",
                    "request_id": None,
                },
            }
        }
    )

    sub: RequestId = Field(description="The id of the subscription.", examples=[4])
    end: Problem


MESSAGES: Final[dict[str, type[BaseModel]]] = {
    "hello": HelloMessage,
    "ok": OkMessage,
    "refusal": ErrorMessage,
    "push": EntriesPush,
    "gap_push": GapPush,
    "end_push": EndPush,
}
"""The messages of the server, by their names in the AsyncAPI document."""
