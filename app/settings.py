"""The options of `tailrace serve`: type, default, meaning and `TAILRACE_` name of each one.

The command line has the same options under the same names. This file has only options that have an effect.
The server rejects an option of a later release; it never ignores one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from enum import StrEnum
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from tailrace.api.server_limits import ServerLimits
from tailrace.app.tokens.file import DEFAULT_NAME

ENVIRONMENT_PREFIX: Final = "TAILRACE_"

CLIENT_VARIABLES: Final = frozenset(
    f"{ENVIRONMENT_PREFIX}{name}"
    for name in ("URL", "TOKEN", "TOKEN_FILE", "CONTEXT", "COMPLETION_TIMEOUT_S")
)
"""The variables of client commands, which a server ignores."""

GROUPS_NAMED_DEFAULT: Final = 100
"""Each group has three metrics: enough to see which groups lag, and cheap to scrape."""


class Durability(StrEnum):
    """Which data survives a crash or a power cut."""

    ALWAYS = "always"
    """The server responds after everything that the response reveals is on disk."""
    INTERVAL = "interval"
    """Data reaches the disk within a second."""
    NONE = "none"
    """Data is in memory only; the server creates no file."""


class LogFormat(StrEnum):
    """`JSON` is one object per line; `CONSOLE` is readable text for a terminal."""

    JSON = "json"
    CONSOLE = "console"


class LogLevel(StrEnum):
    """Requests are logged at `INFO`; at `WARNING` and above they are not logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Settings(ServerLimits, BaseSettings):
    """All options of `tailrace serve`. Arguments override the environment, and the environment overrides
    defaults. `api.server_limits` defines the options that limit clients.

    Raises `pydantic.ValidationError`, which names every invalid option.
    """

    model_config = SettingsConfigDict(env_prefix=ENVIRONMENT_PREFIX, frozen=True, validate_default=False)

    host: str = Field(
        default="127.0.0.1",
        description="Address to listen on. Any address except loopback requires tokens: `tailrace token "
        "create`.",
    )
    port: int = Field(default=8080, ge=0, le=65_535, description="TCP port; 0 picks a free one.")
    data_dir: Path = Field(default=Path("data"), description="Directory for the data; created if missing.")
    durability: Durability = Field(
        default=Durability.ALWAYS,
        description="always: a response waits for the disk. interval: data reaches the disk within a second. "
        "none: data is in memory only.",
    )
    store: str | None = Field(
        default=None,
        description="URL of a Redis or Valkey that keeps the data instead of this server, such as "
        "redis://10.0.0.1:6379, redis+cluster://10.0.0.1:6379 or redis+sentinel://10.0.0.1:26379/mymaster.",
    )
    min_replicas: int = Field(
        default=0,
        ge=0,
        le=16,
        description="With --store: how many replicas must confirm a write before its response. If too few "
        "do, the response is 503 with an unknown outcome.",
    )
    min_replicas_timeout_ms: int = Field(
        default=1_000,
        ge=1,
        le=60_000,
        description="With --store: milliseconds to wait for the replicas of --min-replicas.",
    )
    accept_eviction: bool = Field(
        default=False,
        description="With --store: start although the engine deletes streams when its memory is full "
        "(maxmemory with a maxmemory-policy allkeys-...).",
    )
    cache_mb: int = Field(
        default=64,
        ge=1,
        le=1_048_576,
        description="MiB of memory for recently read blocks of entries.",
    )
    log_level: LogLevel = Field(
        default=LogLevel.INFO,
        description="Lowest level to log: debug, info, warning or error. Requests are logged at info.",
    )
    log_format: LogFormat = Field(
        default=LogFormat.JSON, description="Log lines on standard error: json or console."
    )
    tokens_file: Path | None = Field(
        default=None,
        description="The tokens file. If unset, `tokens.json` in the data directory is used if it exists.",
    )
    tls_cert: Path | None = Field(
        default=None,
        description="PEM file with the certificate and its chain. The server then accepts only TLS.",
    )
    tls_key: Path | None = Field(
        default=None, description="PEM file with the unencrypted key of the certificate."
    )
    allowed_origin: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(),
        description="Other origin whose pages may use the server, such as https://app.example; repeat for "
        "each. In the environment variable, separate origins with spaces.",
    )
    allowed_header: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(),
        description="Further request header that the pages of allowed origins may send, such as "
        "X-Requested-With; repeat for each. In the environment variable, separate headers with spaces.",
    )
    docs_url: str | None = Field(
        default=None,
        description="Address of the documentation that `make docs` builds, if you serve it somewhere. The "
        "page /docs and the OpenAPI document link it.",
    )
    metrics_groups: int = Field(
        default=GROUPS_NAMED_DEFAULT,
        ge=0,
        le=10_000,
        description="How many groups `/metrics` shows by name: those with the most pending entries. The "
        "others are summed up. 0: no names.",
    )
    slow_log_ms: int = Field(
        default=10,
        ge=-1,
        le=3_600_000,
        description="The slow log records operations of at least this many ms. 0: all, -1: none.",
    )
    shutdown_grace_s: int = Field(
        default=10, ge=1, le=600, description="Seconds for running requests to finish after SIGTERM."
    )

    @field_validator("allowed_origin", "allowed_header", mode="before")
    @classmethod
    def _split_words(cls, value: object) -> object:
        return value.split() if isinstance(value, str) else value

    @field_validator("allowed_origin")
    @classmethod
    def _origins_are_exact(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        for origin in origins:
            if not _ORIGIN.fullmatch(origin):
                raise ValueError(
                    f"{origin!r} is not an origin. Write one exact origin as a browser sends it, without a "
                    "path and without wildcards, such as https://app.example or http://localhost:3000"
                )
        return origins

    @field_validator("allowed_header")
    @classmethod
    def _headers_are_names(cls, headers: tuple[str, ...]) -> tuple[str, ...]:
        for header in headers:
            if not _HEADER.fullmatch(header):
                raise ValueError(
                    f"{header!r} is not the name of a header. Write one name without wildcards, such as "
                    "X-Requested-With"
                )
        return headers

    @field_validator("docs_url")
    @classmethod
    def _docs_url_is_an_address(cls, value: str | None) -> str | None:
        if value is not None and not value.startswith(("http://", "https://")):
            raise ValueError(f"{value!r} is not an address. Write a URL such as https://docs.example/")
        return value

    # The last validator is the first to run.
    @field_validator("*", mode="before")
    @classmethod
    def _is_not_empty(cls, value: object) -> object:
        if isinstance(value, str) and not value.strip():
            raise ValueError("the value is empty. Give a value, or leave the option or variable out")
        return value

    @property
    def is_loopback(self) -> bool:
        """Return whether only programs on this machine can reach the server."""
        return self.host == "localhost" or _is_loopback(self.host)

    @property
    def tokens_path(self) -> Path:
        """Return the path of the tokens file."""
        return self.tokens_file or self.data_dir / DEFAULT_NAME


def unknown_variables(names: Iterable[str]) -> Iterator[tuple[str, str | None]]:
    """Yield each variable in `names` that looks like an option but is none, with the nearest option."""
    known = {f"{ENVIRONMENT_PREFIX}{name.upper()}" for name in Settings.model_fields} | CLIENT_VARIABLES
    for name in sorted(names):
        # Variables work in any case.
        if not name.upper().startswith(ENVIRONMENT_PREFIX) or name.upper() in known:
            continue
        if _OF_KUBERNETES.match(name) is None:
            yield name, next(iter(get_close_matches(name.upper(), known, 1)), None)


def without_credentials(url: str) -> str:
    """Return the URL of a store without user name and password."""
    scheme, separator, rest = url.partition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"


_OF_KUBERNETES: Final = re.compile(rf"{ENVIRONMENT_PREFIX}(?:SERVICE_|PORT_\d)")
"""Kubernetes sets these variables in each pod of a namespace that has a service named `tailrace`."""

_HEADER: Final = re.compile(r"[!#$%&'+.^_`|~0-9A-Za-z-]+")
_ORIGIN: Final = re.compile(r"https?://(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?", re.ASCII)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
