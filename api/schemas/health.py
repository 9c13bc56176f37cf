"""Wire models of the health of the server: whether it runs, and whether it accepts requests."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from tailrace.api.schemas.base import WireModel


class Health(WireModel):
    """The server's process is running."""

    model_config = ConfigDict(json_schema_extra={"example": {"status": "ok"}})

    status: Literal["ok"] = Field(description="Always `ok`.", examples=["ok"])


class Readiness(WireModel):
    """The server accepts requests."""

    model_config = ConfigDict(json_schema_extra={"example": {"status": "ready"}})

    status: Literal["ready"] = Field(
        description="Always `ready`; a server that is not ready answers 503.", examples=["ready"]
    )
    warnings: list[str] | None = Field(
        default=None,
        description="What to change at the engine behind a gateway; missing if there is nothing.",
        examples=[["10.0.0.1:6379 loses entries if it crashes: its appendonly is no"]],
    )
