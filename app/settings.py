"""What can be set from outside, each option once: its type, default, meaning and `TAILRACE_` name.

The command line offers the same options under the same names. An option stands here only when it
does something; one that a later release brings is refused, never ignored.
"""

from __future__ import annotations

import re
from enum import StrEnum
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from tailrace.api.server_limits import ServerLimits
from tailrace.app.tokens.file import DEFAULT_NAME

ENVIRONMENT_PREFIX: Final = "TAILRACE_"

GROUPS_NAMED_DEFAULT: Final = 100
"""Three figures each: enough to see who lags, and little for a scraper."""


class Durability(StrEnum):
    """What a reply promises about a crash or a power cut."""

    ALWAYS = "always"
    """All that it reveals is on disk."""
    INTERVAL = "interval"
    """It will be within a second."""
    NONE = "none"
    """Nothing: data lives in memory, and no file is kept."""


class LogFormat(StrEnum):
    """`JSON` for machines, one object a line; `CONSOLE` for eyes."""

    JSON = "json"
    CONSOLE = "console"


class LogLevel(StrEnum):
    """Requests are logged at `INFO`; at `WARNING` and above a request costs no log line."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Settings(ServerLimits, BaseSettings):
    """All options of `tailrace serve`; arguments win over the environment, that over defaults. Those that
    bound clients are `api.server_limits`'.

    Raises `pydantic.ValidationError` naming every option that is wrong.
    """

    model_config = SettingsConfigDict(env_prefix=ENVIRONMENT_PREFIX, frozen=True, validate_default=False)

    host: str = Field(
        default="127.0.0.1",
        description="Address to listen on. One that is not loopback needs tokens: `tailrace token create`.",
    )
    port: int = Field(default=8080, ge=0, le=65_535, description="TCP port; 0 picks a free one.")
    data_dir: Path = Field(default=Path("data"), description="Directory for data, made if missing.")
    durability: Durability = Field(
        default=Durability.ALWAYS,
        description="always: a reply waits for the disk. interval: the disk follows within a second. "
        "none: data is in memory only.",
    )
    cache_mb: int = Field(
        default=64,
        ge=1,
        le=1_048_576,
        description="MiB of memory for blocks of entries that were read a short while ago.",
    )
    log_level: LogLevel = Field(
        default=LogLevel.INFO,
        description="Least level that is logged: debug, info, warning or error. warning leaves out requests.",
    )
    log_format: LogFormat = Field(
        default=LogFormat.JSON, description="Log lines on standard error: json or console."
    )
    tokens_file: Path | None = Field(
        default=None,
        description="The tokens file. Without it `tokens.json` in the data directory counts, if it is there.",
    )
    tls_cert: Path | None = Field(
        default=None, description="PEM file with the certificate and its chain; then only TLS is spoken."
    )
    tls_key: Path | None = Field(default=None, description="PEM file with the certificate's key.")
    allowed_origin: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(),
        description="Origin of pages that may use the server, such as https://app.example; once for each. "
        "In the environment they are separated by spaces.",
    )
    metrics_groups: int = Field(
        default=GROUPS_NAMED_DEFAULT,
        ge=0,
        le=10_000,
        description="How many groups `/metrics` names, those with the most pending entries; the others are "
        "one. 0 names none.",
    )
    slow_log_ms: int = Field(
        default=10,
        ge=-1,
        le=3_600_000,
        description="Operations that take the server so many ms are noted in the slow log. 0: all, -1: none.",
    )
    shutdown_grace_s: int = Field(
        default=10, ge=1, le=600, description="Seconds that running requests get to end after SIGTERM."
    )

    @field_validator("allowed_origin", mode="before")
    @classmethod
    def _split_origins(cls, value: object) -> object:
        return value.split() if isinstance(value, str) else value

    @field_validator("allowed_origin")
    @classmethod
    def _origins_are_exact(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        for origin in origins:
            if not _ORIGIN.fullmatch(origin):
                raise ValueError(
                    f"{origin!r} is no origin: it is written as a browser sends it, without a path, such as "
                    "https://app.example or http://localhost:3000, and stands for itself alone"
                )
        return origins

    @property
    def is_loopback(self) -> bool:
        """Whether only programs on this machine can reach the server."""
        return self.host == "localhost" or _is_loopback(self.host)

    @property
    def tokens_path(self) -> Path:
        """Where tokens are looked for."""
        return self.tokens_file or self.data_dir / DEFAULT_NAME


_ORIGIN: Final = re.compile(r"https?://(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?", re.ASCII)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
