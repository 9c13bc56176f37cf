"""Wire models of the command endpoint: Redis commands and their replies as JSON."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import ConfigDict, Field, JsonValue, RootModel

from tailrace.api.schemas.base import WireModel
from tailrace.core.limits import COMMAND_ARGUMENTS_MAX, PIPELINE_COMMANDS_MAX


class Base64Argument(WireModel):
    """An argument that is not UTF-8."""

    base64: str = Field(description="The argument's bytes in base64.", examples=["/wA="])


CommandArgument: TypeAlias = str | float | bool | Base64Argument
"""A string; a number or a boolean, which means its JSON text; or bytes in base64."""


class CommandBody(RootModel[list[CommandArgument]]):
    """A command as an array: its name, then its arguments. Each is a string, an object with base64, or a
    number or boolean, which means its text as it was sent."""

    model_config = ConfigDict(
        strict=True, frozen=True, json_schema_extra={"example": ["XLEN", "race:france"]}
    )

    root: Annotated[list[CommandArgument], Field(min_length=1, max_length=COMMAND_ARGUMENTS_MAX)]


class CommandsBody(RootModel[list[CommandBody]]):
    """Commands, run in this order."""

    model_config = ConfigDict(
        strict=True,
        frozen=True,
        json_schema_extra={"example": [["XLEN", "race:france"], ["XLEN", "race:usa"]]},
    )

    root: Annotated[list[CommandBody], Field(max_length=PIPELINE_COMMANDS_MAX)]


class CommandReply(WireModel):
    """The RESP2 reply as JSON: string, number, null, array, or a status such as `"OK"`."""

    model_config = ConfigDict(json_schema_extra={"example": {"result": 3}})

    result: JsonValue = Field(
        description='The reply. Bytes that are not UTF-8 are written as `{"base64": ...}`.', examples=[3]
    )


class CommandOutcome(WireModel):
    """The reply of one command, or its error."""

    result: JsonValue = Field(None, description="The reply; absent if the command failed.", examples=[3])
    error: str | None = Field(
        None,
        description="The Redis error line; absent if the command succeeded.",
        examples=["ERR syntax error"],
    )


class CommandOutcomes(RootModel[list[CommandOutcome]]):
    """One outcome for each command, in order."""

    model_config = ConfigDict(frozen=True, json_schema_extra={"example": [{"result": 3}, {"result": 0}]})
