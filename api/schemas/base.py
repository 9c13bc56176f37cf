"""What all wire models share: frozen, strict, and closed to members that they do not name.

It owns the recurring types (ids, counts, times) with their bounds and words.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from tailrace.core.limits import IDS_PER_REQUEST_MAX

I64_MAX: Final = (1 << 63) - 1


class WireModel(BaseModel):
    """A JSON object of the surface."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


EntryId: TypeAlias = Annotated[
    str, Field(description="An entry id, `ms-seq`; always a string.", examples=["1692632086370-0"])
]
EntryIds: TypeAlias = Annotated[
    list[str],
    Field(
        min_length=1,
        max_length=IDS_PER_REQUEST_MAX,
        description="Entry ids. All are read before anything is done: one bad id and nothing happens.",
        examples=[["1692632086370-0"]],
    ),
]
Count: TypeAlias = Annotated[int, Field(ge=0, le=I64_MAX)]
Milliseconds: TypeAlias = Annotated[int, Field(ge=0, le=I64_MAX)]
ReferencesName: TypeAlias = Literal["keep", "delete", "acknowledged"]
NameEncodingField: TypeAlias = Annotated[
    Literal["base64"] | None,
    Field(
        description="`base64`: the names beside it are base64, since not all of them are UTF-8.",
        examples=["base64"],
    ),
]
ReferencesField: TypeAlias = Annotated[
    ReferencesName,
    Field(
        description=(
            "What a deletion does with pending entries that point at the entry: `keep` leaves them, "
            "`delete` removes them too, `acknowledged` deletes only what every group has read and "
            "acknowledged."
        ),
        examples=["keep"],
    ),
]
