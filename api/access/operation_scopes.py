"""The scope that each operation needs. The token must have it on every key that the operation touches.

`any`: any valid token. `open`: no token. An operation with the name of a command needs the scope of the
command. Every other operation needs a row here, otherwise it cannot be declared. `api.access.permissions`
checks the keys that an operation uses; `docs/security.md` lists the scopes of all operations.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from tailrace.api.principals import TokenScope
from tailrace.core.command_table import ACCESS

Need: TypeAlias = TokenScope | Literal["any", "open"]

_OWN_NEEDS: Final[Mapping[str, Need]] = {
    # streams
    "list_streams": "read",  # or `admin`; it shows what the token's patterns allow
    "create_stream": "admin",
    "head_stream": "read",
    "get_producer": "read",
    "take_over_epoch": "append",
    "delete_stream": "admin",
    # entries
    "xadd_batch": "append",
    "import_entries": "append",
    "check_import": "append",
    "get_entry": "read",
    "export_entries": "read",
    "split_entries": "read",
    "seek_entries": "read",
    "delete_entry": "admin",
    "list_scheduled": "read",
    "cancel_scheduled": "append",  # no reader has seen the entry: who may schedule may cancel
    # reads
    "tail": "read",  # `consume` with `group`
    "tail_streams": "read",  # `consume` with `group`
    # groups
    "xinfo_group": "read",
    "configure_group": "admin",  # on the dead-letter stream as well
    "redrive": "admin",
    # pending
    "xpending_summary": "read",
    "extend": "consume",
    # commands: each command has its own scope
    "command": "any",
    "pipeline": "any",
    "transaction": "any",
    # service
    "create_ticket": "any",
    "show_access": "any",
    "get_limits": "any",
    "show_server": "admin",  # on every key, as the slow log
    "slow_log": "admin",  # on every key: it names those of all tokens
    "clear_slow_log": "admin",
    "healthz": "open",
    "readyz": "open",
    "problem_page": "open",
}

_NEEDS: Final[Mapping[str, Need]] = {
    **{name.replace("|", "_"): access for name, access in ACCESS.items()},
    **_OWN_NEEDS,
}


def need_of(operation: str) -> Need:
    """Return the scope that an operation needs. Raises `KeyError` for an operation without a row."""
    return _NEEDS[operation]


def scope_of(operation: str) -> TokenScope | None:
    """Return the scope that an operation needs, None if it needs none of its own."""
    need = _NEEDS[operation]
    return None if need == "any" or need == "open" else need  # noqa: PLR1714 - so that the type narrows
