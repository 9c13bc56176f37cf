"""Wire models of the retention of a stream."""

from __future__ import annotations

from typing import Annotated, Final, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic.config import JsonDict

from tailrace.api.schemas.base import I64_MAX, WireModel

RETENTION_EXAMPLE: Final[JsonDict] = {"max_age_ms": 604_800_000, "protect_unread": True}
RETENTION_STATE_EXAMPLE: Final[JsonDict] = {
    "max_age_ms": 604_800_000,
    "acknowledged": False,
    "protect_unread": True,
    "removed": {"max_age_ms": 2},
    "removed_at_ms": 1_692_632_147_973,
    "protected_entries": 0,
    "protected_bytes": 0,
}


class RetentionBody(WireModel):
    """The rules by which the server removes the oldest entries of a stream. An entry goes if one rule removes
    it. At least one rule other than `protect_unread` is needed."""

    model_config = ConfigDict(json_schema_extra={"example": RETENTION_EXAMPLE})

    max_age_ms: Annotated[int, Field(ge=1, le=I64_MAX)] | None = Field(
        None,
        description="How long an entry is kept, in milliseconds, from the time in its id on.",
        examples=[604_800_000],
    )
    max_length: Annotated[int, Field(ge=1, le=I64_MAX)] | None = Field(
        None, description="How many entries are kept.", examples=[1_000_000]
    )
    max_bytes: Annotated[int, Field(ge=1, le=I64_MAX)] | None = Field(
        None,
        description="How many bytes of entries are kept, as compact JSON before compression. Whole blocks "
        "are removed; the last block stays.",
        examples=[1_073_741_824],
    )
    acknowledged: bool = Field(
        False,
        description="Whether to remove entries that every group has read and acknowledged, up to the first "
        "one that a group has not. A stream without groups keeps all.",
        examples=[True],
    )
    protect_unread: bool = Field(
        False,
        description="Whether to keep entries that a group has not read, whatever the other rules say.",
        examples=[True],
    )

    @model_validator(mode="after")
    def _has_a_rule(self) -> Self:
        rules = (self.max_age_ms, self.max_length, self.max_bytes)
        if not self.acknowledged and all(rule is None for rule in rules):
            raise ValueError(
                "needs at least one of `max_age_ms`, `max_length`, `max_bytes` and `acknowledged`; set "
                "`retention` to null to keep all entries"
            )
        return self


class RetentionState(RetentionBody):
    """The retention of a stream, and what it has removed."""

    model_config = ConfigDict(json_schema_extra={"example": RETENTION_STATE_EXAMPLE})

    removed: dict[str, int] = Field(
        description="How many entries were ever removed, by the rule that removed the most at that time.",
        examples=[{"max_age_ms": 2}],
    )
    removed_at_ms: int | None = Field(
        description="When the last entries were removed, in Unix milliseconds; null if none were.",
        examples=[1692632147973],
    )
    protected_entries: int = Field(
        description="How many entries remain only because of `protect_unread`.", examples=[0]
    )
    protected_bytes: int = Field(
        description="The bytes of the blocks that have only such entries.", examples=[0]
    )
