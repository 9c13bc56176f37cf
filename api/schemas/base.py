"""The base class of all wire models, and the types that many of them share: ids, counts and times.

It owns the bounds and descriptions of these types.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from tailrace.core.limits import IDS_PER_REQUEST_MAX

I64_MAX: Final = (1 << 63) - 1


class WireModel(BaseModel):
    """The base of all JSON objects of the API: immutable, without type coercion or unknown members."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)


EntryId: TypeAlias = Annotated[
    str, Field(description="An entry id, `ms-seq`, as a string.", examples=["1692632086370-0"])
]
EntryIds: TypeAlias = Annotated[
    list[str],
    Field(
        min_length=1,
        max_length=IDS_PER_REQUEST_MAX,
        description="Entry ids. If one of them is invalid, the request fails and changes nothing.",
        examples=[["1692632086370-0"]],
    ),
]
INCARNATION_EXAMPLE: Final = "9f86d081884c7d65-1"
IncarnationField: TypeAlias = Annotated[
    str | None,
    Field(
        description="An opaque text that tells the stream from every other one, also from one that is "
        "created under the same key after a deletion. A rename keeps it. Absent if the stream does not "
        "exist, or if the store keeps none.",
        examples=[INCARNATION_EXAMPLE],
    ),
]
POSITION_INCARNATION: Final = (
    "The incarnation of the stream in which an earlier read reached the position. If the stream has another "
    "one now, or is missing, the answer is 410 `POSITION_TRIMMED`; continue after its `next`. Empty: not "
    "known yet; then the answer is 410 if the last id of the stream is before the position."
)
"""The description of `incarnation`, as a member of a position or as a parameter."""
Count: TypeAlias = Annotated[int, Field(ge=0, le=I64_MAX)]
Milliseconds: TypeAlias = Annotated[int, Field(ge=0, le=I64_MAX)]
ReferencesName: TypeAlias = Literal["keep", "delete", "acknowledged"]
NameEncodingField: TypeAlias = Annotated[
    Literal["base64"] | None,
    Field(
        description="`base64`: the names in this object are base64, because at least one of them is not "
        "UTF-8.",
        examples=["base64"],
    ),
]
ReferencesField: TypeAlias = Annotated[
    ReferencesName,
    Field(
        description=(
            "What a deletion does with the pending entries of consumer groups: `keep` keeps them, `delete` "
            "removes them too, `acknowledged` deletes only entries that every group has read and "
            "acknowledged."
        ),
        examples=["keep"],
    ),
]
