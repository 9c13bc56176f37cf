"""Wire models of tickets."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from tailrace.api.schemas.base import WireModel


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
