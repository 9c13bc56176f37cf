"""Wire models of producers that replay whole batches: their epochs, and taking an epoch over."""

from __future__ import annotations

from typing import Final

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from tailrace.api.schemas.base import Count, NameEncodingField, WireModel

EPOCH_EXAMPLE: Final[JsonDict] = {"epoch": 1, "layout": "4 partitions", "keys": 1}


class EpochState(WireModel):
    """An epoch of a producer."""

    epoch: int = Field(description="The number of the epoch.", examples=[1])
    layout: str | None = Field(
        description="The layout of the epoch (`Producer-Layout`); null if no request named one.",
        examples=["4 partitions"],
    )
    keys: int = Field(description="How many idempotency keys the epoch has.", examples=[1])


class ProducerState(WireModel):
    """What a stream remembers of a producer."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"producer": "timing-gate-1", "epochs": [EPOCH_EXAMPLE]}}
    )

    producer: str = Field(description="The producer.", examples=["timing-gate-1"])
    encoding: NameEncodingField = None
    epochs: list[EpochState] = Field(
        description="The last epoch and the current one, in this order; empty if the stream remembers none.",
        examples=[[EPOCH_EXAMPLE]],
    )


class TakeOverBody(WireModel):
    """The epoch to take over, as it must be now, and its new layout."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"epoch": 1, "replaces": "4 partitions", "layout": "4 partitions; run 2", "keys": 1}
        }
    )

    epoch: Count = Field(description="The number of the epoch.", examples=[1])
    replaces: str = Field(description="The layout that the epoch must have now.", examples=["4 partitions"])
    layout: str = Field(description="The new layout.", examples=["4 partitions; run 2"])
    keys: Count = Field(description="How many idempotency keys the epoch must have now.", examples=[1])
