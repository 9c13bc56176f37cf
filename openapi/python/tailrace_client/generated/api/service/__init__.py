"""The operations of one tag, each a module. A module is loaded when it is first used."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import (
        clear_slow_log,
        create_ticket,
        get_limits,
        healthz,
        problem_page,
        readyz,
        show_access,
        show_server,
        slow_log,
    )

__all__ = (
    "clear_slow_log",
    "create_ticket",
    "get_limits",
    "healthz",
    "problem_page",
    "readyz",
    "show_access",
    "show_server",
    "slow_log",
)


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")


def __dir__() -> list[str]:
    return sorted(__all__)
