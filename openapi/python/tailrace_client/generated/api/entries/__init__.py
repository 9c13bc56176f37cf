"""The operations of one tag, each a module. A module is loaded when it is first used."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import (
        cancel_scheduled,
        check_import,
        delete_entry,
        export_entries,
        get_entry,
        import_entries,
        list_scheduled,
        seek_entries,
        split_entries,
        xadd,
        xadd_batch,
        xdel,
        xrange,
        xtrim,
    )

__all__ = (
    "cancel_scheduled",
    "check_import",
    "delete_entry",
    "export_entries",
    "get_entry",
    "import_entries",
    "list_scheduled",
    "seek_entries",
    "split_entries",
    "xadd",
    "xadd_batch",
    "xdel",
    "xrange",
    "xtrim",
)


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")


def __dir__() -> list[str]:
    return sorted(__all__)
