"""Authenticates requests in a running server: keeps the tokens file in memory and reloads it after changes.

It owns the tokens in memory, and notifies watchers when a token becomes invalid. Its rules:

* Tokens are looked up by the SHA-256 of their text. An attacker cannot choose a digest that resembles a
  stored one, so the duration of a lookup reveals nothing, and a constant-time comparison is unnecessary.
  Valid headers are cached, up to `KNOWN_HEADERS_MAX`, until the file changes.
* While the file is missing or invalid, the tokens read before stay valid, and a revocation takes effect once
  the file can be read. The log and `is_file_refused` report this state. At the start, an invalid file is an
  error.
* A damaged entry grants no access. The log names it; the other tokens work.
* If no file exists at the start, each request is `ANONYMOUS_LOCAL`, and the server listens on loopback only.
  The first token ends this mode at once, also for open connections. Only a restart without a file restores
  it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from time import time_ns
from typing import Final, TypeAlias

from tailrace.api.principals import ANONYMOUS_LOCAL, Act, Audit, Principal, Unauthenticated
from tailrace.app.clock import Clock, system_clock_ms
from tailrace.app.tokens.file import BadTokensFile, DamagedEntry, Entry, read_entries
from tailrace.app.tokens.tokens import digest_of

REFRESH_PERIOD_S: Final = 0.25
"""How often the file is checked, so that a revocation takes effect within a second."""

KNOWN_HEADERS_MAX: Final = 1_024
"""How many valid `Authorization` headers are cached."""

_UNSETTLED_NS: Final = 100_000_000
"""A file younger than this is read again at the next check: two changes may have the same timestamp."""

OnEnd: TypeAlias = Callable[[Unauthenticated], None]
_Signature: TypeAlias = tuple[int, ...]

_NEEDED: Final = "this server requires a token: `Authorization: Bearer <token>`"

_logger: Final = logging.getLogger("tailrace.tokens")


class FileAuthenticator:
    """Implements `api.principals.Authenticator` with a tokens file, which may be created later.

    Raises `BadTokensFile` or `OSError` if the file exists and cannot be used.
    """

    def __init__(self, path: Path, audit: Audit, clock: Clock = system_clock_ms) -> None:
        self._path = path
        self._audit = audit
        self._clock = clock
        self._by_digest: dict[bytes, Principal] = {}
        self._valid: dict[str, Principal] = {ANONYMOUS_LOCAL.token_id: ANONYMOUS_LOCAL}
        self._known: dict[bytes, Principal] = {}
        self._watches: dict[Principal, dict[int, OnEnd]] = {}
        self._serials = count()
        self._used: set[str] = set()
        self._signature = self._present_signature()
        self.has_tokens = False
        """Whether requests need a token."""
        self._refusal: str | None = None
        """Why the file cannot be used now; None if it can."""
        self._damaged: tuple[DamagedEntry, ...] = ()
        if self._signature is not None:
            self._take(read_entries(path))

    @property
    def is_file_refused(self) -> bool:
        """Return whether the file cannot be used now; the tokens read before stay valid."""
        return self._refusal is not None

    @property
    def token_count(self) -> int:
        """Return the number of tokens in the file, including expired tokens."""
        return len(self._by_digest)

    @property
    def damaged_count(self) -> int:
        """Return the number of damaged entries, which are ignored."""
        return len(self._damaged)

    # --- api.principals.Authenticator ------------------------------------------------------------

    def authenticate(self, authorization: bytes | None) -> Principal:
        """Return the principal of an `Authorization` header. O(1); a cached header costs one lookup.

        Raises `Unauthenticated` if the token is missing, unknown or expired.
        """
        if not self.has_tokens:
            return ANONYMOUS_LOCAL
        if authorization is None:
            raise Unauthenticated(_NEEDED, is_given=False)
        principal = self._known.get(authorization) or self._look_up(authorization)
        self._require_unexpired(principal)
        self._used.add(principal.token_id)
        return principal

    def _look_up(self, authorization: bytes) -> Principal:
        scheme, _, text = authorization.partition(b" ")
        if scheme.lower() != b"bearer":
            raise Unauthenticated(_NEEDED)
        principal = self._by_digest.get(digest_of(text.strip()))
        if principal is None:
            raise Unauthenticated("the token is unknown or was revoked")
        if len(self._known) >= KNOWN_HEADERS_MAX:
            self._known.clear()
        self._known[authorization] = principal
        return principal

    def require_standing(self, principal: Principal) -> None:
        """Raise `Unauthenticated` if the token of `principal` expired, was revoked or has changed rights.

        O(1).
        """
        if self._valid.get(principal.token_id) is not principal:
            raise self._end_of(principal)
        self._require_unexpired(principal)

    def _require_unexpired(self, principal: Principal) -> None:
        if principal.expires_at_ms is not None and principal.expires_at_ms <= self._clock():
            raise Unauthenticated("the token has expired")

    def _end_of(self, principal: Principal) -> Unauthenticated:
        if principal is ANONYMOUS_LOCAL:
            return Unauthenticated(_NEEDED, is_given=False)
        if principal.token_id in self._valid:
            return Unauthenticated("the token's rights were changed", is_changed=True)
        return Unauthenticated("the token was revoked")

    def watch(self, principal: Principal, on_end: OnEnd) -> Callable[[], None]:
        """Call `on_end` once when the token of `principal` becomes invalid. Return a function to cancel this.

        If the token is invalid already, `on_end` is called on the next turn of the loop.
        """
        try:
            self.require_standing(principal)
        except Unauthenticated as error:
            return asyncio.get_running_loop().call_soon(on_end, error).cancel
        serial = next(self._serials)
        self._watches.setdefault(principal, {})[serial] = on_end
        return lambda: self._forget(principal, serial)

    def _forget(self, principal: Principal, serial: int) -> None:
        watches = self._watches.get(principal)
        if watches is not None and watches.pop(serial, None) is not None and not watches:
            del self._watches[principal]

    # --- the file --------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Reload the file if it has changed, and notify the watchers of invalid tokens.

        Costs one `stat` and O(watched tokens) if the file is unchanged.
        """
        signature = self._present_signature()
        if signature != self._signature:
            self._signature = signature
            self._reload()
        for principal in list(self._watches):
            try:
                self.require_standing(principal)
            except Unauthenticated as error:
                self._end(principal, error)

    def _present_signature(self) -> _Signature | None:
        """Return a value that changes with the file; None if the file does not exist."""
        try:
            state = self._path.stat()
        except OSError:
            return None
        unsettled = time_ns() if time_ns() - state.st_mtime_ns < _UNSETTLED_NS else 0
        return state.st_mtime_ns, state.st_ino, state.st_size, state.st_mode, unsettled

    def _reload(self) -> None:
        try:
            entries = read_entries(self._path)
        except (OSError, BadTokensFile) as error:
            if self.has_tokens or not isinstance(error, FileNotFoundError):
                self._refuse_file(str(error))
            return
        if self._refusal is not None:
            self._refusal = None
            _logger.warning("tokens_file_usable_again", extra={"fields": {"entries": len(entries)}})
        before = self._valid
        self._take(entries)
        self._audit_changes(before)

    def _refuse_file(self, why: str) -> None:
        """Log `why` once, although a recently modified file is read several times."""
        if why != self._refusal:
            fields = {"reason": why, "kept": self.token_count}
            _logger.error("tokens_file_refused", extra={"fields": fields})
        self._refusal = why

    def _take(self, entries: Sequence[Entry]) -> None:
        """Make the entries of the file the valid tokens. An unchanged token keeps its `Principal` object."""
        before = self._valid
        self._by_digest = {}
        self._valid = {}
        damaged = []
        for entry in entries:
            if isinstance(entry, DamagedEntry):
                damaged.append(entry)
                continue
            principal = entry.principal()
            if before.get(entry.id) == principal:
                principal = before[entry.id]
            self._by_digest[bytes.fromhex(entry.sha256)] = principal
            self._valid[entry.id] = principal
        self._known.clear()
        self.has_tokens = True
        self._note_damaged(damaged)

    def _note_damaged(self, damaged: Sequence[DamagedEntry]) -> None:
        """Log each damaged entry once, until it changes."""
        for entry in damaged:
            if entry not in self._damaged:
                fields = {"token_id": entry.id, "token": entry.name, "reason": entry.reason}
                _logger.error("token_ignored", extra={"fields": fields})
        self._damaged = tuple(damaged)

    def _audit_changes(self, before: Mapping[str, Principal]) -> None:
        for token_id in {**before, **self._valid}:
            old, new = before.get(token_id), self._valid.get(token_id)
            if old is not new and (known := new or old) not in {None, ANONYMOUS_LOCAL}:
                what = "token_added" if old is None else "token_revoked" if new is None else "token_changed"
                self._audit(Act(known, what, (), "seen", None))

    def _end(self, principal: Principal, error: Unauthenticated) -> None:
        for on_end in self._watches.pop(principal).values():
            try:
                on_end(error)
            except Exception:
                _logger.exception("token_watch_failed")

    # --- uses ------------------------------------------------------------------------------------

    def used_since_asked(self) -> set[str]:
        """Return the ids of the tokens that were used since the previous call."""
        used, self._used = self._used, set()
        return used
