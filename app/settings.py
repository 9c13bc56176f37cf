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
    """What a reply promises about a power cut. Only `NONE` can be kept today."""

    ALWAYS = "always"
    INTERVAL = "interval"
    NONE = "none"


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
    data_dir: Path | None = Field(
        default=None,
        description="Directory for data, made if missing. Nothing is kept in it yet: data is in memory.",
    )
    durability: Durability = Field(
        default=Durability.NONE,
        description="none: data is in memory only. always and interval arrive with persistence.",
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

    @field_validator("durability")
    @classmethod
    def _durability_can_be_kept(cls, durability: Durability) -> Durability:
        if durability is Durability.NONE:
            return durability
        raise ValueError(
            f"{durability.value!r} arrives with persistence; for now data lives in memory only (none)"
        )


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
