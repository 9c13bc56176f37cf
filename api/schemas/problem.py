"""The model of an error response (RFC 9457).

It documents the members; `api.problems.table` writes them.
"""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from tailrace.api.problems.table import HttpCode
from tailrace.api.schemas.base import NameEncodingField, WireModel
from tailrace.core.errors import ErrorCode


class ErrorItem(WireModel):
    """One mistake in a request, and its place."""

    detail: str = Field(
        description="What is wrong, what is allowed, and what to do.",
        examples=["must be a string, not the number 30.2"],
    )
    pointer: str | None = Field(
        None,
        description="The place in the body as a JSON pointer; empty for the whole body.",
        examples=["/fields/speed"],
    )
    line: int | None = Field(None, description="The line of the body, counted from 1.", examples=[3])
    column: int | None = Field(
        None, description="The column where the line stops being valid JSON, counted from 1.", examples=[11]
    )
    parameter: str | None = Field(None, description="The name of the parameter.", examples=["count"])
    in_: str | None = Field(
        None,
        alias="in",
        description="The place of the parameter: `path`, `query` or `header`.",
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
        description="The kind of problem, in words.",
        examples=["The id is not greater than the stream's last id"],
    )
    status: int = Field(description="The HTTP status.", examples=[409])
    detail: str = Field(
        description="What is wrong with this request.",
        examples=["the stream 'race:france' has no entry 1-0"],
    )
    code: str = Field(
        description="The stable code of the problem, for programs to compare.",
        examples=["ID_NOT_GREATER"],
        json_schema_extra={"x-known-values": [*ErrorCode, *HttpCode]},
    )
    retryable: bool = Field(
        description="True if the same request can succeed later, unchanged.", examples=[False]
    )
    side_effects: Literal["none", "unknown"] = Field(
        description="`none`: the request changed nothing. `unknown`: the server cannot tell.",
        examples=["none"],
    )
    request_id: str | None = Field(
        description="The id of the request, as in `X-Request-Id` and in the server's log.",
        examples=["0f8fad5bd9cb469fa16570867728950e"],
    )
    errors: list[ErrorItem] | None = Field(
        None,
        description="Each mistake in the body or the parameters.",
        examples=[[{"pointer": "/fields/speed", "detail": "must be a string, not the number 30.2"}]],
    )
    last_id: str | None = Field(
        None,
        description="The stream's last id, if the client needs it to continue.",
        examples=["1692632102976-0"],
    )
    first_id: str | None = Field(
        None,
        description="The stream's first id, if the client needs it to continue.",
        examples=["1692632086370-0"],
    )
    given: str | None = Field(None, description="The value that the server refused.", examples=["1-2-3"])
    argument: str | None = Field(
        None, description="The name of the argument whose value the server refused.", examples=["start"]
    )
    offset: str | None = Field(
        None,
        description="With `INVALID_FILTER`: how many characters of the filter come before the error.",
        examples=["14"],
    )
    excerpt: str | None = Field(
        None,
        description="With `INVALID_FILTER`: the filter around the error, and below it a line with a caret.",
        examples=['fields.status = "failed"\n              ^'],
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
            "The error as a Redis error line, which clients for Redis over REST show. Only the command "
            "endpoint, with the exact line of Redis, and paths outside of `/v1` return it."
        ),
        examples=["ERR syntax error"],
    )
