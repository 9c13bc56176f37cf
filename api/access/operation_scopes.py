"""What every operation needs of a token, on one page: the scope, which then holds on every key it touches.

`any`: a token, whatever it allows. `open`: nothing. An operation that is not here cannot be declared. Which
keys an operation touches is not said here: `api.access.permissions` sees it in the commands that it makes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from tailrace.api.ports import TokenScope

Need: TypeAlias = TokenScope | Literal["any", "open"]

OPERATION_NEEDS: Final[Mapping[str, Need]] = {
    # streams
    "list_streams": "read",  # or `admin`; it shows what the token's patterns allow
    "create_stream": "admin",
    "xinfo_stream": "read",
    "head_stream": "read",
    "xlen": "read",
    "xsetid": "admin",
    "xcfgset": "admin",
    "delete_stream": "admin",
    # entries
    "xadd": "append",
    "xadd_batch": "append",
    "import_entries": "append",
    "xrange": "read",
    "get_entry": "read",
    "export_entries": "read",
    "split_entries": "read",
    "seek_entries": "read",
    "delete_entry": "admin",
    "xdel": "admin",
    "xtrim": "admin",
    # reads
    "xread": "read",
    "xreadgroup": "consume",
    "tail": "read",  # `consume` with `group`
    "tail_streams": "read",  # `consume` with `group`
    # groups
    "xinfo_groups": "read",
    "xinfo_group": "read",
    "xgroup_create": "admin",
    "xgroup_setid": "admin",
    "xgroup_destroy": "admin",
    # consumers
    "xinfo_consumers": "read",
    "xgroup_createconsumer": "consume",
    "xgroup_delconsumer": "admin",
    # pending
    "xpending": "read",
    "xpending_summary": "read",
    "xack": "consume",
    "xnack": "consume",
    "xclaim": "consume",
    "xautoclaim": "consume",
    # commands: each one's own scope
    "command": "any",
    "pipeline": "any",
    "transaction": "any",
    # service
    "create_ticket": "any",
    "get_limits": "any",
    "slow_log": "admin",  # on every key: it names those of all tokens
    "clear_slow_log": "admin",
    "healthz": "open",
    "readyz": "open",
    "problem_page": "open",
}


def scope_of(operation: str) -> TokenScope | None:
    """The scope that an operation needs, None where it needs none of its own."""
    need = OPERATION_NEEDS[operation]
    return None if need == "any" or need == "open" else need  # noqa: PLR1714 - so that the type narrows
