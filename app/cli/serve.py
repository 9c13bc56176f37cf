"""`tailrace serve`: from arguments and environment to a running server."""

from __future__ import annotations

import logging
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from pydantic import ValidationError
from typer.models import OptionInfo

from app import __version__
from app.http_protocol import fast_protocol
from app.logs import configure_logging
from app.main import create_app
from app.server import CannotStart, reason
from app.server import serve as serve_app
from app.service import EngineStore
from app.settings import ENVIRONMENT_PREFIX, Durability, LogFormat, LogLevel, Settings
from app.storage import Storage
from core.block_cache import BlockCache
from core.engine import Engine
from core.limits import MIB
from core.storage.damage import Damage
from core.storage.schema import InUse, UnknownFormat

_logger: Final = logging.getLogger("tailrace")


def _option(name: str) -> OptionInfo:
    """The option for the setting `name`, described in the setting's own words.

    Its default is None, "not given": the environment and the defaults are the settings' business.
    """
    field = Settings.model_fields[name]
    default = "" if field.default is None else f" Default {field.default}."
    option: OptionInfo = typer.Option(
        metavar=name.rpartition("_")[2].upper(),
        help=f"{field.description}{default} ({ENVIRONMENT_PREFIX}{name.upper()})",
        show_default=False,
    )
    return option


def serve(
    host: Annotated[str | None, _option("host")] = None,
    port: Annotated[int | None, _option("port")] = None,
    data_dir: Annotated[Path | None, _option("data_dir")] = None,
    durability: Annotated[Durability | None, _option("durability")] = None,
    cache_mb: Annotated[int | None, _option("cache_mb")] = None,
    log_level: Annotated[LogLevel | None, _option("log_level")] = None,
    log_format: Annotated[LogFormat | None, _option("log_format")] = None,
    shutdown_grace_s: Annotated[int | None, _option("shutdown_grace_s")] = None,
) -> None:
    """Serve streams over HTTP until SIGINT or SIGTERM.

    Prints one line with the address on standard output when it is ready; logs go to standard error.
    Every option can also be set in the environment, under the name in parentheses.

    [bold]Examples[/bold]

      tailrace serve

      tailrace serve --port 0 --log-format console

      TAILRACE_PORT=9000 tailrace serve --log-level warning
    """
    settings = _settings_from(locals())
    configure_logging(settings.log_format, settings.log_level)
    try:
        storage = _open_storage(settings)
        store = EngineStore(Engine(None if storage is None else storage.keyspace))
        app = create_app(store, storage, settings.durability)
        serve_app(
            app,
            settings,
            http=fast_protocol(store),
            on_ready=partial(_announce, settings),
            on_stop=store.drain,
        )
    except CannotStart as error:
        typer.echo(f"tailrace: {error}", err=True)
        raise typer.Exit(1) from None


def _settings_from(arguments: dict[str, Any]) -> Settings:
    given = {name: value for name, value in arguments.items() if value is not None}
    try:
        return Settings(**given)
    except ValidationError as error:
        raise typer.BadParameter("; ".join(_complaints(error, given))) from None


def _complaints(error: ValidationError, given: dict[str, Any]) -> list[str]:
    """One sentence for each wrong setting, under the name by which it was given."""
    complaints = []
    for problem in error.errors(include_url=False):
        name = str(problem["loc"][0])
        shown = f"--{name.replace('_', '-')}" if name in given else f"{ENVIRONMENT_PREFIX}{name.upper()}"
        complaints.append(f"{shown}: {problem['msg'].removeprefix('Value error, ')}")
    return complaints


def _open_storage(settings: Settings) -> Storage | None:
    """What the data directory holds; raises `CannotStart` where it cannot be had whole."""
    if settings.durability is Durability.NONE:
        return None
    try:
        return Storage(settings.data_dir, BlockCache(settings.cache_mb * MIB))
    except OSError as error:
        raise CannotStart(f"cannot use the data directory {settings.data_dir}: {reason(error)}") from error
    except (InUse, UnknownFormat) as error:
        raise CannotStart(str(error)) from error
    except Damage as error:
        raise CannotStart(f"the data directory {settings.data_dir} is damaged: {error}") from error


def _announce(settings: Settings, url: str) -> None:
    """Say once that requests are taken, and first what becomes of the data."""
    if settings.durability is Durability.NONE:
        _logger.warning("data lives in memory only and ends with this process")
    else:
        fields = {"data_dir": str(settings.data_dir), "durability": settings.durability.value}
        _logger.info("data is kept", extra={"fields": fields})
    typer.echo(f"Tailrace {__version__} is ready on {url}")
