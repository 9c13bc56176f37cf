"""The senders of requests and their rights, and the interfaces to tokens and the audit log.

`app` implements the interfaces. This module decides only whether a key is within a sender's rights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol, TypeAlias, get_args

from tailrace.core.commands import Access
from tailrace.core.glob import Glob, compile_glob

TokenScope: TypeAlias = Access
"""A scope of a token: the kind of access that it allows."""

SCOPES: Final[frozenset[TokenScope]] = frozenset(get_args(Access))
"""All scopes. No scope includes another."""

ALL_KEYS: Final = b"*"
"""The pattern that also allows operations on the whole keyspace."""


@dataclass(frozen=True)
class Principal:
    """The sender of a request and its rights: one state of one token. If the token changes, it gets a new
    object.

    `key_patterns` are glob patterns for keys, as in KEYS. `expires_at_ms` is in Unix milliseconds; None
    means never.
    """

    token_id: str
    name: str
    scopes: frozenset[TokenScope]
    key_patterns: tuple[bytes, ...]
    expires_at_ms: int | None = None
    reaches_all_keys: bool = field(init=False, repr=False, compare=False)
    """True if operations on the whole keyspace are allowed."""
    _globs: tuple[Glob, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "reaches_all_keys", ALL_KEYS in self.key_patterns)
        object.__setattr__(self, "_globs", tuple(compile_glob(glob) for glob in self.key_patterns))

    def may(self, scope: TokenScope, key: bytes) -> bool:
        """Return whether `scope` is allowed on `key`. O(patterns)."""
        return scope in self.scopes and self.may_see(key)

    def may_see(self, key: bytes) -> bool:
        """Return whether a pattern matches `key`: only then may a reply have its name. O(patterns)."""
        return self.reaches_all_keys or any(glob.matches(key) for glob in self._globs)


NOBODY: Final = Principal("", "nobody", frozenset(), ())
"""The sender of a request to an open path, which is not authenticated."""

OPEN_PATHS: Final = frozenset({"/", "/docs", "/openapi.json", "/asyncapi.json", "/healthz", "/readyz"})
"""Paths that need no token: the documentation, and the health of the server."""

OPEN_FOLDERS: Final = ("/problems/", "/console/")
"""Paths that begin with one of these need no token either: the pages that explain problems, and the files of
the console."""


def is_open(path: str) -> bool:
    """Return whether the raw path `path` needs no token."""
    return path in OPEN_PATHS or path.startswith(OPEN_FOLDERS)


ANONYMOUS_LOCAL: Final = Principal("local", "anonymous", SCOPES, (ALL_KEYS,))
"""The sender of every request if no tokens are configured; the server then listens on loopback only."""


class Unauthenticated(Exception):
    """The request has no valid token, or its token has become invalid. `reason`: an explanation without any
    part of a token.

    `is_given` is true if the request has a token, and the token is invalid. `is_changed` is true if the
    token is still valid but has other rights now; a new request has these rights.
    """

    def __init__(self, reason: str, *, is_given: bool = True, is_changed: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_given = is_given
        self.is_changed = is_changed


class Authenticator(Protocol):
    """Checks tokens."""

    def authenticate(self, authorization: bytes | None) -> Principal:
        """Return the sender of a request with this `Authorization` header. Raises `Unauthenticated`.

        It must be fast, because it is called for every request.
        """
        ...

    def require_standing(self, principal: Principal) -> None:
        """Raise `Unauthenticated` if the token of `principal` was revoked or changed, or has expired."""
        ...

    def watch(self, principal: Principal, on_end: Callable[[Unauthenticated], None]) -> Callable[[], None]:
        """Call `on_end` once, on the event loop, when the token of `principal` is revoked, changed or
        expires.

        Return a function that ends the watch. It can also be called after `on_end`.
        """
        ...


class Act(NamedTuple):
    """An administrative operation for the audit log. `keys` is empty if it concerns no stream or all
    streams."""

    principal: Principal
    operation: str
    keys: Sequence[bytes]
    outcome: str
    request_id: str | None


Audit: TypeAlias = Callable[[Act], None]
"""Writes an administrative operation to the audit log."""
