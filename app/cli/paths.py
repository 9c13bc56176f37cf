"""Paths as arguments and variables: an empty one is an error, because `Path("")` is the current directory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from tailrace.app.settings import ENVIRONMENT_PREFIX
from tailrace.app.tokens.file import DEFAULT_NAME


def given_path(value: str | Path) -> Path:
    """Return an argument as a path. Raises `typer.BadParameter` if it is empty."""
    if not str(value).strip():
        raise typer.BadParameter("the path is empty")
    return Path(value)


def with_filled_variable(context: typer.Context, parameter: typer.CallbackParam, value: Any) -> Any:
    """Return `value`. Raises `typer.BadParameter` if it is a default because its variable is empty."""
    name = str(parameter.envvar)
    source = context.get_parameter_source(parameter.name or "")
    is_argument = source is not None and source.name == "COMMANDLINE"
    if not (is_argument or os.environ.get(name, name).strip()):
        raise typer.BadParameter(f"{name} is empty: give it a value, or unset it")
    return value


TokensFileOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help=f"The tokens file. Default: {DEFAULT_NAME} in the data directory.",
        envvar=f"{ENVIRONMENT_PREFIX}TOKENS_FILE",
        parser=given_path,
        callback=with_filled_variable,
        show_default=False,
    ),
]
DataDirOption: TypeAlias = Annotated[
    Path,
    typer.Option(
        metavar="D",
        help="The data directory.",
        envvar=f"{ENVIRONMENT_PREFIX}DATA_DIR",
        parser=given_path,
        callback=with_filled_variable,
    ),
]
