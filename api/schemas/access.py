"""Wire models of what a token may do, and of tickets."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from tailrace.api.principals import TokenScope
from tailrace.api.schemas.base import WireModel


class AccessReply(WireModel):
    """What the token of the request may do."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "token": None,
                "token_id": None,
                "scopes": ["admin", "append", "consume", "read"],
                "key_patterns": ["*"],
                "expires_at_ms": None,
            }
        }
    )

    token: str | None = Field(
        description="The name of the token; null if the server requires no tokens.", examples=["ingest"]
    )
    token_id: str | None = Field(
        description="The id of the token; null if the server requires no tokens.", examples=["3f9a0c27b1d4"]
    )
    scopes: list[TokenScope] = Field(
        description="The scopes of the token. No scope includes another.", examples=[["append"]]
    )
    key_patterns: list[str] = Field(
        description="The globs of the keys on which the scopes are allowed.", examples=[["race:*"]]
    )
    expires_at_ms: int | None = Field(
        description="When the token expires, in Unix milliseconds; null for never.", examples=[1692632200000]
    )


class Ticket(WireModel):
    """A ticket for one WebSocket handshake. Send it as the subprotocol `tailrace.ticket.<ticket>`."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"ticket": "Zm9yIG9uZSBzb2NrZXQgb25seSwgYW5kIG5vdCBmb3IgbG9uZw", "expires_in_s": 60}
        }
    )

    ticket: str = Field(
        description="The ticket.", examples=["Zm9yIG9uZSBzb2NrZXQgb25seSwgYW5kIG5vdCBmb3IgbG9uZw"]
    )
    expires_in_s: int = Field(description="Seconds until the ticket expires.", examples=[60])
