"""What the server sends, as models: they document frames that are written without them.

A test holds every frame that the server sends in it against these.
"""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from tailrace.api.schemas.base import NameEncodingField, WireModel
from tailrace.api.schemas.entries import ENTRY_EXAMPLE, Entry
from tailrace.api.schemas.problem import Problem
from tailrace.api.schemas.reads import DeliveredEntry
from tailrace.api.websocket.requests import RequestId


class Hello(WireModel):
    """What a server says of itself."""

    version: str = Field(description="The server's version.", examples=["1.0.0"])
    subprotocol: str = Field(description="The subprotocol spoken.", examples=["tailrace.v1.json"])
    limits: dict[str, int] = Field(
        description="Bounds of a connection.", examples=[{"subscriptions_max": 100}]
    )


class HelloMessage(WireModel):
    """The first frame."""

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
    """A request was carried out. What `ok` holds depends on the op."""

    model_config = ConfigDict(json_schema_extra={"example": {"id": 2, "ok": {"id": "1692632147973-0"}}})

    id: RequestId = Field(description="The request's.", examples=[2])
    ok: dict[str, Any] = Field(description="The result.", examples=[{"id": "1692632147973-0"}])


class ErrorMessage(WireModel):
    """A request was refused, and changed nothing; the connection lives on."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "id": 4,
                "error": {
                    "type": "/problems/nogroup",
                    "title": "No such consumer group",
                    "status": 404,
                    "detail": "No such key 'race:france' or consumer group 'judges'",
                    "code": "NOGROUP",
                    "retryable": False,
                    "side_effects": "none",
                    "request_id": None,
                },
            }
        }
    )

    id: RequestId | None = Field(
        description="The request's; null where it had none that could be read.", examples=[4]
    )
    error: Problem


class EntriesPush(WireModel):
    """Entries of one stream of a subscription; those of a group carry `idle_ms` and `deliveries`."""

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

    sub: RequestId = Field(description="The subscription.", examples=[3])
    key: str = Field(description="The stream's key.", examples=["race:france"])
    encoding: NameEncodingField = None
    entries: list[DeliveredEntry | Entry] = Field(description="The entries.", examples=[[ENTRY_EXAMPLE]])
    next: str = Field(
        description="`after` of a subscription that goes on from here.", examples=["1692632086370-0"]
    )


class GapBounds(WireModel):
    """Where entries are missing."""

    after: str = Field(alias="from", description="Entries after this id.", examples=["1692632086370-0"])
    before: str = Field(alias="to", description="And before this id.", examples=["1692632102976-0"])


class GapPush(WireModel):
    """Entries between two ids were trimmed away before they could be pushed."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "sub": 3,
                "key": "race:france",
                "gap": {"from": "1692632086370-0", "to": "1692632102976-0"},
            }
        }
    )

    sub: RequestId = Field(description="The subscription.", examples=[3])
    key: str = Field(description="The stream's key.", examples=["race:france"])
    encoding: NameEncodingField = None
    gap: GapBounds


class EndPush(WireModel):
    """A subscription is over: its group is gone, or the server stops."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "sub": 4,
                "end": {
                    "type": "/problems/not-accepting",
                    "title": "The server takes no such request now",
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

    sub: RequestId = Field(description="The subscription.", examples=[4])
    end: Problem


MESSAGES: Final[dict[str, type[BaseModel]]] = {
    "hello": HelloMessage,
    "ok": OkMessage,
    "refusal": ErrorMessage,
    "push": EntriesPush,
    "gap_push": GapPush,
    "end_push": EndPush,
}
"""What the server sends over a WebSocket, by the name in the AsyncAPI document."""
