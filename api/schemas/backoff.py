"""Wire model of the backoff of a group."""

from __future__ import annotations

from typing import Final

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from tailrace.api.schemas.base import WireModel
from tailrace.core.limits import BACKOFF_FACTOR_MAX, DELAY_MS_MAX

BACKOFF_EXAMPLE: Final[JsonDict] = {"initial_ms": 1000, "factor": 2.0, "max_ms": 60_000}


class Backoff(WireModel):
    """How long a nack delays the next delivery of an entry: `initial_ms` after the first delivery, and
    `factor` times as long after each further one, but at most `max_ms`."""

    model_config = ConfigDict(json_schema_extra={"example": BACKOFF_EXAMPLE})

    initial_ms: int = Field(
        ge=1,
        le=DELAY_MS_MAX,
        description="The delay after the first delivery, in milliseconds.",
        examples=[1000],
    )
    factor: float = Field(
        2.0,
        ge=1,
        le=BACKOFF_FACTOR_MAX,
        description="By which factor the delay grows with each delivery.",
        examples=[2.0],
    )
    max_ms: int = Field(
        3_600_000,
        ge=1,
        le=DELAY_MS_MAX,
        description="The longest delay, in milliseconds; at least `initial_ms`.",
        examples=[60_000],
    )
