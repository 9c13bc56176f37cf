"""What can be set from outside, each option once: its type, default, meaning and `TAILRACE_` name.

The command line offers the same options under the same names. An option stands here only when it
does something; one that a later release brings is refused, never ignored.
"""

from __future__ import annotations

from enum import StrEnum
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

ENVIRONMENT_PREFIX: Final = "TAILRACE_"


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


class Settings(BaseSettings):
    """All options of `tailrace serve`; arguments win over the environment, that over defaults.

    Raises `pydantic.ValidationError` naming every option that is wrong.
    """

    model_config = SettingsConfigDict(env_prefix=ENVIRONMENT_PREFIX, frozen=True, validate_default=False)

    host: str = Field(
        default="127.0.0.1",
        description="Loopback address to listen on. Others are refused: there is no access control yet.",
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
    shutdown_grace_s: int = Field(
        default=10, ge=1, le=600, description="Seconds that running requests get to end after SIGTERM."
    )

    @field_validator("host")
    @classmethod
    def _host_is_loopback(cls, host: str) -> str:
        if host == "localhost" or _is_loopback(host):
            return host
        raise ValueError(
            f"{host!r} is not a loopback address, and others need access control, which is not there yet"
        )


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
