"""The base class of all requests over a WebSocket."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import Field, WithJsonSchema

from tailrace.api.schemas.base import WireModel

RequestId: TypeAlias = int | str

Name: TypeAlias = Annotated[str | bytes, WithJsonSchema({"type": "string"})]
"""Text in JSON; `str` or `bin` in MessagePack."""


class Request(WireModel):
    """A request. Its reply has the same `id`."""

    id: RequestId = Field(
        description="An id that the client chooses. The reply has the same `id`, and the pushes of a "
        "subscription have it as `sub`.",
        examples=[7],
    )
