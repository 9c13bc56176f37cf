"""Creates tokens for tests as `tailrace token create` does, without starting a process.

The test owns the token file.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tailrace.api.principals import TokenScope
from tailrace.app.clock import system_clock_ms
from tailrace.app.tokens.file import changing_tokens
from tailrace.app.tokens.tokens import new_token

ALL_SCOPES: Sequence[TokenScope] = ("read", "append", "consume", "admin")


def make_token(
    path: Path,
    *scopes: TokenScope,
    keys: Sequence[str] = ("*",),
    name: str = "test",
    expires_in_ms: int | None = None,
) -> str:
    """Return the text of a new token in the file at `path`."""
    made = new_token(name, scopes, keys, system_clock_ms(), expires_in_ms)
    with changing_tokens(path) as tokens:
        tokens.append(made.record)
    return made.text


def revoke_token(path: Path, text: str) -> None:
    """Remove the token from the file."""
    with changing_tokens(path) as tokens:
        tokens[:] = [record for record in tokens if record.id != id_of(text)]


def id_of(text: str) -> str:
    """Return the id under which `tailrace token list` shows the token."""
    return text.split("_")[1]


def bearer(text: str) -> dict[str, str]:
    """Return the header that presents the token."""
    return {"Authorization": f"Bearer {text}"}
