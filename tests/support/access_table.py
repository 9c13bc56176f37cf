"""The access table of `docs/security.md`: the scope that each operation, command and WebSocket request needs.

Owns the form of the table and the marks around it. Its contents come from the code: the scopes of operations,
the grammar, and the options that need a further scope. `python -m tests.support.access_table` writes the
table.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from tailrace.api.access.permissions import OPTIONS, need_of
from tailrace.api.principals import TokenScope
from tailrace.core.command_table import ACCESS, DESCRIPTORS, Reach
from tests.support.api_client import the_document

PAGE: Final = Path(__file__).parents[2] / "docs/security.md"
BEGIN: Final = "<!-- what needs which scope: written by python -m tests.support.access_table -->\n"
END: Final = "<!-- end of the table -->\n"

EVERYWHERE: Final = {
    *(each.name for row in DESCRIPTORS.values() if row.reach is Reach.ALL_KEYS for each in row.redis),
    *("show_server", "slow_log", "clear_slow_log"),
}
"""The operations that need the pattern `*`."""

SOCKET_SCOPES: Final[dict[str, TokenScope | None]] = {
    "append": "append",
    "subscribe": "read",
    "consume": "consume",
    "ack": "consume",
    "nack": "consume",
    "claim": "consume",
    "extend": "consume",
    "command": "read",  # the example is XLEN
    "credit": None,
    "unsubscribe": None,
    "ping": None,
}
"""The scope that the example of each WebSocket request needs."""

_NEEDS: Final = {
    "read": "`read`",
    "append": "`append`",
    "consume": "`consume`",
    "admin": "`admin`",
    "any": "any token",
    "open": "no token",
}


def table() -> str:
    """Return the table as Markdown, between its marks."""
    rows = [_row(_NEEDS[need], *_named(need)) for need in _NEEDS]
    rows += [_option_row(number) for number in range(len(OPTIONS))]
    head = "| needs | HTTP operations | commands | WebSocket requests |\n|---|---|---|---|\n"
    return f"{BEGIN}\n{head}{''.join(rows)}\n{END}"


def _named(need: str) -> tuple[str, str, str]:
    commands = [name for name in ACCESS if ACCESS[name] == need]
    sockets = [
        name for name, scope in SOCKET_SCOPES.items() if (scope or "any") == need and name != "command"
    ]
    if need == "any":
        sockets.append("command")
    operations = [name for name in the_document().operations if need_of(name) == need]
    return _list(operations), _list(commands, upper=True), _list(sockets)


def _list(names: Iterable[str], *, upper: bool = False) -> str:
    shown = ((name, name.upper().replace("|", " ") if upper else name) for name in names)
    return ", ".join(f"`{text}`{' (*)' if name in EVERYWHERE else ''}" for name, text in shown)


def _option_row(number: int) -> str:
    option = OPTIONS[number]
    name = option.redis.partition(" ")[0].lower()
    scope = ACCESS[name]
    socket = _SOCKET_NAMES.get((name, option.rest))
    operations = ", ".join(f"`{each}`" for each in _OPERATIONS[name])
    socket_cell = "" if socket is None else f"`{socket}` with the same option"
    return _row(f"`{scope}` and `admin`", f"{operations} with {option.rest}", option.redis, socket_cell)


_OPERATIONS: Final = {
    "xackdel": ["xack"],
    "xadd": ["xadd", "xadd_batch"],
    "xclaim": ["xclaim"],
    "xnack": ["xnack"],
}
_SOCKET_NAMES: Final = {
    (name, option.rest): {"xackdel": "ack", "xadd": "append", "xnack": "nack"}[name]
    for option in OPTIONS
    if (name := option.redis.partition(" ")[0].lower()) != "xclaim"
}


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |\n"


def with_table(page: str) -> str:
    """Return `page` with the current table."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + table() + after


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text()))
