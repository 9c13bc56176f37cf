"""Wire models of the settings of a consumer group, and of sending its dead letters back."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from tailrace.api.schemas.backoff import BACKOFF_EXAMPLE, Backoff
from tailrace.api.schemas.base import I64_MAX, EntryIds, NameEncodingField, WireModel
from tailrace.api.schemas.groups import GROUP_EXAMPLE
from tailrace.core.limits import CONSUMER_EXPIRY_MS_MIN, DEAD_LETTERS_MAX, FILTER_CHARACTERS_MAX

REDRIVEN_EXAMPLE: Final[JsonDict] = {"id": "1692632147973-0", "new_id": "1692632147973-0"}
CONFIGURED_EXAMPLE: Final[JsonDict] = {
    **GROUP_EXAMPLE,
    "dead_letter_stream": "race:france:dead",
    "max_deliveries": 5,
    "dead_letters": 0,
}


class GroupSettingsBody(WireModel):
    """Settings of a group. A setting that is not named stays as it is; null removes it."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"max_deliveries": 5, "dead_letter_stream": "race:france:dead"}}
    )

    max_deliveries: Annotated[int, Field(ge=1, le=I64_MAX)] | None = Field(
        None,
        description="How often an entry is delivered at most. Before one more delivery, the entry moves to "
        "`dead_letter_stream`, which must be set as well.",
        examples=[5],
    )
    dead_letter_stream: str | None = Field(
        None,
        description="The key of the stream to which such entries move. It is created with its first entry. "
        "The token needs `admin` on it, too.",
        examples=["race:france:dead"],
    )
    filter: Annotated[str, Field(max_length=FILTER_CHARACTERS_MAX)] | None = Field(
        None,
        description="A condition, as in `GET .../entries`. The group delivers only entries that match; "
        "others count as read.",
        examples=['fields.rider == "Castilla"'],
    )
    claim_min_idle_ms: Annotated[int, Field(ge=1, le=I64_MAX)] | None = Field(
        None,
        description="Before new entries, a read of the group claims entries that are idle for at least this "
        "long, in milliseconds, unless the read has a `claim_min_idle_ms` of its own.",
        examples=[30000],
    )
    consumer_expiry_ms: Annotated[int, Field(ge=CONSUMER_EXPIRY_MS_MIN, le=I64_MAX)] | None = Field(
        None,
        description="A consumer that was not seen for this long, in milliseconds, gives its entries back to "
        "the group and is deleted. Reading, waiting, claiming and extending count as being seen.",
        examples=[300000],
    )
    max_lag_ms: Annotated[int, Field(ge=1, le=I64_MAX)] | None = Field(
        None,
        description="The server warns in its log and its metrics while the oldest entry that the group has "
        "not read is at least this old, in milliseconds.",
        examples=[60000],
    )
    backoff: Backoff | None = Field(
        None,
        description="How long a nack without `delay_ms` delays the next delivery of an entry.",
        examples=[BACKOFF_EXAMPLE],
    )
    encoding: NameEncodingField = None


class RedriveBody(WireModel):
    """Which dead letters to send back: all from `start` on, or those with these ids."""

    model_config = ConfigDict(json_schema_extra={"example": {"limit": 100}})

    ids: EntryIds | None = Field(
        None, description="Ids in the dead-letter stream; without them, all.", examples=[["1692632147973-0"]]
    )
    start: str = Field(
        "-",
        description="The first id in the dead-letter stream to examine: `next` of the previous response. "
        "Not with `ids`.",
        examples=["-"],
    )
    limit: int = Field(
        100,
        ge=1,
        le=DEAD_LETTERS_MAX,
        description="How many dead letters to examine at most.",
        examples=[100],
    )


class RedrivenEntry(WireModel):
    """A dead letter that was sent back."""

    model_config = ConfigDict(json_schema_extra={"example": REDRIVEN_EXAMPLE})

    id: str = Field(
        description="Its id in the dead-letter stream, from which it was deleted.",
        examples=["1692632147973-0"],
    )
    new_id: str = Field(description="Its new id in the group's stream.", examples=["1692632147973-0"])


class RedriveReply(WireModel):
    """The dead letters that were sent back."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"redriven": [REDRIVEN_EXAMPLE], "skipped": 0, "next": None}}
    )

    redriven: list[RedrivenEntry] = Field(
        description="The entries that were sent back, in the order of their ids.",
        examples=[[REDRIVEN_EXAMPLE]],
    )
    skipped: int = Field(
        description="How many were examined and stay where they are: they are missing, or they are not dead "
        "letters of this group.",
        examples=[0],
    )
    next: str | None = Field(
        description="The id from which the next request continues; null at the end.",
        examples=["1692632147974-0"],
    )
