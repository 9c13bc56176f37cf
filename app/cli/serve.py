"""`tailrace serve`: builds a server from arguments and environment, and runs it.

It owns the options and the startup checks. It never implements a part of the server.
"""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from pydantic import ValidationError
from typer.models import OptionInfo

from tailrace.api.access.security import Security
from tailrace.app import __version__
from tailrace.app.cli.output import note, say
from tailrace.app.cli.paths import given_path
from tailrace.app.cli.stores import require_one_store, sources_of
from tailrace.app.main import create_app, create_hot_routes
from tailrace.app.observability.audit import AuditLog
from tailrace.app.observability.logs import configure_logging
from tailrace.app.observability.tracing import CannotTrace, tracing_from
from tailrace.app.process_tuning import OPEN_FILES_MIN, FileBudget, budget_of, raise_open_files_max
from tailrace.app.protocols.connections import Connections
from tailrace.app.protocols.http import http_protocol
from tailrace.app.protocols.websocket import websocket_protocol
from tailrace.app.reasons import reason
from tailrace.app.server import CannotStart
from tailrace.app.server import serve as serve_app
from tailrace.app.settings import (
    ENVIRONMENT_PREFIX,
    Durability,
    LogFormat,
    LogLevel,
    Settings,
    unknown_variables,
    without_credentials,
)
from tailrace.app.token_buckets import TokenBuckets
from tailrace.app.tokens.authenticator import FileAuthenticator
from tailrace.app.tokens.file import BadTokensFile

if TYPE_CHECKING:
    from tailrace.app.observability.spans import Tracing

_logger: Final = logging.getLogger("tailrace")


def _option(name: str) -> OptionInfo:
    """Return the option for the setting `name`, with the description of the setting.

    Its default is None, "not given", because `Settings` reads the environment and the defaults.
    """
    field = Settings.model_fields[name]
    default = "" if field.default in {None, ()} else f" Default {field.default}."
    option: OptionInfo = typer.Option(
        metavar=name.rpartition("_")[2].upper(),
        help=f"{field.description}{default} ({ENVIRONMENT_PREFIX}{name.upper()})",
        show_default=False,
        parser=_PARSERS.get(field.annotation),
    )
    return option


def _whole_number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a whole number") from None


_PARSERS: Final[dict[Any, Callable[[str], Any]]] = {
    int: _whole_number,
    int | None: _whole_number,
    # `Path("")` is the current directory.
    Path: given_path,
    Path | None: given_path,
}


def serve(  # noqa: PLR0913, PLR0917 - an argument for each option
    host: Annotated[str | None, _option("host")] = None,
    port: Annotated[int | None, _option("port")] = None,
    data_dir: Annotated[Path | None, _option("data_dir")] = None,
    durability: Annotated[Durability | None, _option("durability")] = None,
    store: Annotated[str | None, _option("store")] = None,
    min_replicas: Annotated[int | None, _option("min_replicas")] = None,
    min_replicas_timeout_ms: Annotated[int | None, _option("min_replicas_timeout_ms")] = None,
    accept_eviction: Annotated[bool | None, _option("accept_eviction")] = None,
    cache_mb: Annotated[int | None, _option("cache_mb")] = None,
    log_level: Annotated[LogLevel | None, _option("log_level")] = None,
    log_format: Annotated[LogFormat | None, _option("log_format")] = None,
    tokens_file: Annotated[Path | None, _option("tokens_file")] = None,
    tls_cert: Annotated[Path | None, _option("tls_cert")] = None,
    tls_key: Annotated[Path | None, _option("tls_key")] = None,
    allowed_origin: Annotated[list[str] | None, _option("allowed_origin")] = None,
    allowed_header: Annotated[list[str] | None, _option("allowed_header")] = None,
    docs_url: Annotated[str | None, _option("docs_url")] = None,
    metrics_groups: Annotated[int | None, _option("metrics_groups")] = None,
    slow_log_ms: Annotated[int | None, _option("slow_log_ms")] = None,
    shutdown_grace_s: Annotated[int | None, _option("shutdown_grace_s")] = None,
    header_timeout_s: Annotated[int | None, _option("header_timeout_s")] = None,
    body_bytes_per_s_min: Annotated[int | None, _option("body_bytes_per_s_min")] = None,
    answer_timeout_s: Annotated[int | None, _option("answer_timeout_s")] = None,
    keep_alive_timeout_s: Annotated[int | None, _option("keep_alive_timeout_s")] = None,
    connections_max: Annotated[int | None, _option("connections_max")] = None,
    connections_per_peer_max: Annotated[int | None, _option("connections_per_peer_max")] = None,
    waiting_readers_max: Annotated[int | None, _option("waiting_readers_max")] = None,
    event_streams_max: Annotated[int | None, _option("event_streams_max")] = None,
    websockets_max: Annotated[int | None, _option("websockets_max")] = None,
    subscriptions_max: Annotated[int | None, _option("subscriptions_max")] = None,
    bodies_mb: Annotated[int | None, _option("bodies_mb")] = None,
    requests_per_s: Annotated[int | None, _option("requests_per_s")] = None,
    request_burst: Annotated[int | None, _option("request_burst")] = None,
    memory_limit_mb: Annotated[int | None, _option("memory_limit_mb")] = None,
) -> None:
    """Run the server until SIGINT or SIGTERM.

    When the server is ready, it prints one line with its address to standard
    output. Logs go to standard error. Every option can also be set with the
    environment variable in parentheses. A certificate is
    read again when its files change, and at SIGHUP.

    [bold]Examples[/bold]

      tailrace serve

      tailrace serve --port 0 --log-format console

      TAILRACE_PORT=9000 tailrace serve --log-level warning

      tailrace serve --store redis://127.0.0.1:6379

      tailrace serve --host 0.0.0.0 --tokens-file tokens.json --tls-cert server.pem --tls-key server.key
    """
    settings = _settings_from(locals())
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    configure_logging(settings.log_format, settings.log_level)
    _warn_of_unknown_variables()
    _require_safety(settings)
    try:
        files = _file_budget(settings)
        settings = settings.model_copy(update={"connections_max": files.connections_max})
        audit = AuditLog()
        tokens = _open_tokens(settings, audit)
        security = Security(tokens, audit, settings.allowed_origin, settings.allowed_header)
        registry = Connections(settings, refused_max=files.refused_max)
        rates = TokenBuckets(settings)
        sources, tracing = sources_of(settings, registry), _tracing()
        sources.audit = audit
        app = create_app(sources, settings, rates, tokens, security, tracing)
        serve_app(
            app,
            settings,
            http=http_protocol(registry, create_hot_routes(sources, rates, security, tracing)),
            ws=websocket_protocol(registry),
            on_ready=partial(_announce, settings),
            on_stop=sources.store.drain,
            backlog=files.backlog,
        )
    except CannotStart as error:
        note(str(error))
        raise typer.Exit(1) from None


def _settings_from(arguments: dict[str, Any]) -> Settings:
    given = {name: value for name, value in arguments.items() if value is not None}
    try:
        return Settings(**given)
    except ValidationError as error:
        raise typer.BadParameter("; ".join(_complaints(error, given))) from None


def _complaints(error: ValidationError, given: dict[str, Any]) -> list[str]:
    """Return a sentence for each invalid setting, with the name that the user gave."""
    complaints = []
    for problem in error.errors(include_url=False):
        name = str(problem["loc"][0])
        shown = f"--{name.replace('_', '-')}" if name in given else f"{ENVIRONMENT_PREFIX}{name.upper()}"
        # The errors of the validators of `Settings` name the value, where it is no secret.
        value = "" if problem["type"] == "value_error" else f", not {problem['input']!r}"
        complaints.append(f"{shown}: {problem['msg'].removeprefix('Value error, ')}{value}")
    return complaints


def _warn_of_unknown_variables() -> None:
    for name, nearest in unknown_variables(os.environ):
        hint = "" if nearest is None else f"; did you mean {nearest}?"
        _logger.warning("the environment variable %s is not an option, and is ignored%s", name, hint)


def _require_safety(settings: Settings) -> None:
    """Refuse options that are valid alone but not together."""
    require_one_store(settings)
    if (settings.tls_cert is None) is not (settings.tls_key is None):
        raise typer.BadParameter("--tls-cert and --tls-key must be given together")
    if not settings.is_loopback and not settings.tokens_path.exists():
        path = settings.tokens_path
        raise typer.BadParameter(
            f"--host: {settings.host!r} is not a loopback address, and without tokens the server listens on "
            "loopback only. Create a token with `tailrace token create NAME --scope read --tokens-file "
            f"{path}`, and start the server with `--tokens-file {path}`"
        )


def _file_budget(settings: Settings) -> FileBudget:
    """Return how many connections the limit of open files allows; warn if that is below the setting."""
    open_files_max = raise_open_files_max()
    if open_files_max < OPEN_FILES_MIN:
        raise CannotStart(
            f"this process may have {open_files_max} files open, and the server needs {OPEN_FILES_MIN}; "
            "raise the limit with `ulimit -n`"
        )
    files = budget_of(open_files_max, settings.connections_max)
    if files.connections_max < settings.connections_max:
        _logger.warning(
            "the limit of open files allows fewer connections than --connections-max; raise `ulimit -n`",
            extra={"fields": {"connections_max": files.connections_max, "open_files_max": open_files_max}},
        )
    return files


def _open_tokens(settings: Settings, audit: AuditLog) -> FileAuthenticator:
    """Open the tokens file. Raises `CannotStart` if it is invalid, or if it was named and is missing."""
    path = settings.tokens_path
    try:
        if settings.tokens_file is not None:
            path.stat()
        return FileAuthenticator(path, audit)
    except OSError as error:
        hint = f"create one with `tailrace token create NAME --scope read --tokens-file {path}`"
        raise CannotStart(f"cannot read the tokens file {path}: {reason(error)}; {hint}") from error
    except BadTokensFile as error:
        raise CannotStart(str(error)) from error


def _tracing() -> Tracing | None:
    try:
        return tracing_from()
    except CannotTrace as error:
        raise CannotStart(str(error)) from error


def _announce(settings: Settings, url: str) -> None:
    """Log how data is stored, then print that the server is ready."""
    if not settings.is_loopback and settings.tls_cert is None:
        _logger.warning("tokens and data are sent unencrypted; use --tls-cert, or a proxy with TLS")
    if settings.store is not None:
        _logger.info(
            "data is stored by the engine", extra={"fields": {"store": without_credentials(settings.store)}}
        )
    elif settings.durability is Durability.NONE:
        _logger.warning("data is in memory only and is lost when this process ends")
    else:
        fields = {"data_dir": str(settings.data_dir), "durability": settings.durability.value}
        _logger.info("data is stored", extra={"fields": fields})
    say(f"Tailrace {__version__} is ready on {url}")
