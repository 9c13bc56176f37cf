"""`tailrace openapi`: the API's own document, as the program that serves it knows it."""

from __future__ import annotations

import msgspec
import typer

from api.application import create_api
from app import __version__
from app.service import EngineStore
from core.engine import Engine


def openapi() -> None:
    """Print the OpenAPI document as JSON.

    [bold]Example[/bold]

      tailrace openapi > openapi.json
    """
    document = create_api(EngineStore(Engine()), version=__version__).openapi()
    typer.echo(msgspec.json.format(msgspec.json.encode(document), indent=2))
