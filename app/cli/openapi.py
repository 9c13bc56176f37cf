"""`tailrace openapi`: prints the API documents, generated from the code that serves the API."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
import typer

from tailrace.api.application import create_api
from tailrace.api.document.asyncapi import asyncapi_document
from tailrace.api.document.sdk_document import sdk_document
from tailrace.api.problems.help.pages import errors_markdown
from tailrace.app import __version__
from tailrace.app.store.service import EngineStore
from tailrace.core.engine import Engine


def openapi(
    *,
    sdk: Annotated[bool, typer.Option("--sdk", help="Print OpenAPI 3.0, for client generators.")] = False,
    asyncapi: Annotated[
        bool,
        typer.Option("--asyncapi", help="Print the AsyncAPI document: WebSocket and Server-Sent Events."),
    ] = False,
    errors: Annotated[
        bool, typer.Option("--errors", help="Print the page on errors as Markdown: every problem code.")
    ] = False,
) -> None:
    """Print the OpenAPI document as JSON, or another document of the API.

    [bold]Examples[/bold]

      tailrace openapi > openapi.json
      tailrace openapi --sdk > openapi.sdk.json
      tailrace openapi --asyncapi > asyncapi.json
      tailrace openapi --errors > errors.md
    """
    if sdk + asyncapi + errors > 1:
        raise typer.BadParameter("--sdk, --asyncapi and --errors exclude each other")
    if errors:
        typer.echo(errors_markdown(), nl=False)
        return
    document = asyncapi_document(__version__) if asyncapi else _openapi_document()
    shown = sdk_document(document) if sdk else document
    typer.echo(msgspec.json.format(msgspec.json.encode(shown), indent=2))


def _openapi_document() -> dict[str, Any]:
    return create_api(EngineStore(Engine()), version=__version__).openapi()
