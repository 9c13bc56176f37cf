"""The model of every error (RFC 9457). Written by `api.problems.table`; here it is documented."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from tailrace.api.problems.table import HttpCode
from tailrace.api.schemas.base import NameEncodingField, WireModel
from tailrace.core.errors import ErrorCode


class ErrorItem(WireModel):
    """One thing that is wrong with a request, and where."""

    detail: str = Field(description="What is wrong.", examples=["must be a string, not the number 30.2"])
    pointer: str | None = Field(
        None, description="JSON pointer into the body; empty for the whole.", examples=["/fields/speed"]
    )
    line: int | None = Field(None, description="Line of the body, from 1.", examples=[3])
    column: int | None = Field(None, description="Column of a line that is no JSON, from 1.", examples=[11])
    parameter: str | None = Field(None, description="Name of the parameter.", examples=["count"])
    in_: str | None = Field(
        None,
        alias="in",
        description="Where the parameter stands: `path`, `query` or `header`.",
        examples=["query"],
    )


class Problem(WireModel):
    """An error. `code` is stable; `detail` is for people and may be reworded."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(
        description="The kind of problem, as the path of the page on this server that explains it.",
        examples=["/problems/id-not-greater"],
    )
    title: str = Field(
        description="The kind in words.", examples=["The id is not greater than the stream's last id"]
    )
    status: int = Field(description="The HTTP status.", examples=[409])
    detail: str = Field(
        description="What was wrong with this request.",
        examples=["the stream 'race:france' has no entry 1-0"],
    )
    code: str = Field(
        description="Stable code to branch on.",
        examples=["ID_NOT_GREATER"],
        json_schema_extra={"x-known-values": [*ErrorCode, *HttpCode]},
    )
    retryable: bool = Field(
        description="Whether the same request can succeed later, unchanged.", examples=[False]
    )
    side_effects: Literal["none", "unknown"] = Field(
        description="`none`: nothing was changed. `unknown`: the server cannot tell.", examples=["none"]
    )
    request_id: str | None = Field(
        description="The request's id, as in `X-Request-Id` and in the server's log.",
        examples=["0f8fad5bd9cb469fa16570867728950e"],
    )
    errors: list[ErrorItem] | None = Field(
        None,
        description="Each thing that is wrong with the body or the parameters.",
        examples=[[{"pointer": "/fields/speed", "detail": "must be a string, not the number 30.2"}]],
    )
    last_id: str | None = Field(
        None, description="The stream's last id, where going on needs it.", examples=["1692632102976-0"]
    )
    first_id: str | None = Field(
        None, description="The stream's first id, where going on needs it.", examples=["1692632086370-0"]
    )
    given: str | None = Field(None, description="The argument that was refused.", examples=["1-2-3"])
    argument: str | None = Field(
        None, description="The name of the argument that was refused.", examples=["start"]
    )
    required_scope: str | None = Field(
        None, description="The scope that the token lacks; with 403 `NOPERM`.", examples=["append"]
    )
    key: str | None = Field(
        None,
        description=(
            "The key of the stream that the error is about; with `NOPERM` the key that the token's patterns "
            "do not allow under that scope."
        ),
        examples=["race:france"],
    )
    group: str | None = Field(
        None, description="The consumer group that the error is about.", examples=["judges"]
    )
    consumer: str | None = Field(
        None, description="The consumer that the error is about.", examples=["alice"]
    )
    id: str | None = Field(
        None, description="The entry that the error is about.", examples=["1692632086370-0"]
    )
    encoding: NameEncodingField = None
    missing: Literal["stream", "group"] | None = Field(
        None, description="With `NOGROUP`: what does not exist.", examples=["group"]
    )
    error: str | None = Field(
        None,
        description=(
            "The error as a Redis line, which clients for Redis over REST show. Only from the command "
            "endpoint, where it is the exact line of Redis, and from paths outside of `/v1`."
        ),
        examples=["ERR syntax error"],
    )
