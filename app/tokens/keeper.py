"""Who is who in a running server: the tokens file in memory, looked at again when it changes.

It owns that picture, and tells those who watch when a token stands no more. What holds:

* A token is looked up by the SHA-256 of its text. Whoever guesses cannot steer a digest towards a stored
  one, so the time of a look-up tells nothing, and no comparison needs to be made constant. Headers that were
  good are remembered as they were sent, a bounded number of them, until the file changes.
* While the file is missing or cannot be used, the tokens stay as they were, and a revocation waits until the
  file can be read. The log and `is_file_refused` say so. At the start such a file is refused.
* A damaged entry of a file is no token; the log names it, and the other tokens are unaffected.
* Where there never was a file, everybody is `ANONYMOUS_LOCAL`, and only loopback is served. The first token
  that is made ends that at once, for those who are connected, too; there is no way back but a start without
  a file.
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
"""How often the file is looked at: a revocation is to be felt within a second."""

KNOWN_HEADERS_MAX: Final = 1_024

_UNSETTLED_NS: Final = 100_000_000
"""A file this young is read again at the next look: a second change might have the same time stamp."""

OnEnd: TypeAlias = Callable[[Unauthenticated], None]
_Signature: TypeAlias = tuple[int, ...]

_NEEDED: Final = "this server asks for a token: `Authorization: Bearer <token>`"

_logger: Final = logging.getLogger("tailrace.tokens")


class TokenKeeper:
    """`api.principals.Authenticator` over a tokens file that need not be there yet.

    Raises `BadTokensFile` or `OSError` where there is one that cannot be used.
    """

    def __init__(self, path: Path, audit: Audit, clock: Clock = system_clock_ms) -> None:
        self._path = path
        self._audit = audit
        self._clock = clock
        self._by_digest: dict[bytes, Principal] = {}
        self._standing: dict[str, Principal] = {ANONYMOUS_LOCAL.token_id: ANONYMOUS_LOCAL}
        self._known: dict[bytes, Principal] = {}
        self._watches: dict[Principal, dict[int, OnEnd]] = {}
        self._serials = count()
        self._used: set[str] = set()
        self._signature = self._present_signature()
        self.has_tokens = False
        """Whether tokens are asked for."""
        self._refusal: str | None = None
        """Why the file cannot be used now."""
        self._damaged: tuple[DamagedEntry, ...] = ()
        if self._signature is not None:
            self._take(read_entries(path))

    @property
    def is_file_refused(self) -> bool:
        """Whether the file cannot be used now, so that the tokens read before still count."""
        return self._refusal is not None

    @property
    def token_count(self) -> int:
        """Tokens that are known, expired ones too."""
        return len(self._by_digest)

    @property
    def damaged_count(self) -> int:
        """Entries of the file that are ignored."""
        return len(self._damaged)

    # --- api.principals.Authenticator ------------------------------------------------------------

    def authenticate(self, authorization: bytes | None) -> Principal:
        """Who sent this header. O(1); a header that was good before costs one look-up."""
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
            raise Unauthenticated("the token is not known, or was revoked")
        if len(self._known) >= KNOWN_HEADERS_MAX:
            self._known.clear()
        self._known[authorization] = principal
        return principal

    def require_standing(self, principal: Principal) -> None:
        """Raises `Unauthenticated` where `principal` is no longer what it was."""
        if self._standing.get(principal.token_id) is not principal:
            raise self._end_of(principal)
        self._require_unexpired(principal)

    def _require_unexpired(self, principal: Principal) -> None:
        if principal.expires_at_ms is not None and principal.expires_at_ms <= self._clock():
            raise Unauthenticated("the token has expired")

    def _end_of(self, principal: Principal) -> Unauthenticated:
        if principal is ANONYMOUS_LOCAL:
            return Unauthenticated(_NEEDED, is_given=False)
        if principal.token_id in self._standing:
            return Unauthenticated("the token's rights were changed", is_changed=True)
        return Unauthenticated("the token was revoked")

    def watch(self, principal: Principal, on_end: OnEnd) -> Callable[[], None]:
        """Have `on_end` called when `principal` stands no more; soon, where it does not now."""
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
        """Look whether the file has changed, and end what does not stand any more. One `stat`, mostly."""
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
        """What changes when the file does, None where there is none."""
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
        before = self._standing
        self._take(entries)
        self._write_down_changes(before)

    def _refuse_file(self, why: str) -> None:
        """Log `why` once, though a young file is read several times."""
        if why != self._refusal:
            fields = {"reason": why, "kept": self.token_count}
            _logger.error("tokens_file_refused", extra={"fields": fields})
        self._refusal = why

    def _take(self, entries: Sequence[Entry]) -> None:
        """The tokens of the file are those that stand, from now on; one that is the same stays the same."""
        before = self._standing
        self._by_digest = {}
        self._standing = {}
        damaged = []
        for entry in entries:
            if isinstance(entry, DamagedEntry):
                damaged.append(entry)
                continue
            principal = entry.principal()
            if before.get(entry.id) == principal:
                principal = before[entry.id]
            self._by_digest[bytes.fromhex(entry.sha256)] = principal
            self._standing[entry.id] = principal
        self._known.clear()
        self.has_tokens = True
        self._note_damaged(damaged)

    def _note_damaged(self, damaged: Sequence[DamagedEntry]) -> None:
        """Log each damaged entry once, as long as it stays the same."""
        for entry in damaged:
            if entry not in self._damaged:
                fields = {"token_id": entry.id, "token": entry.name, "reason": entry.reason}
                _logger.error("token_ignored", extra={"fields": fields})
        self._damaged = tuple(damaged)

    def _write_down_changes(self, before: Mapping[str, Principal]) -> None:
        for token_id in {**before, **self._standing}:
            old, new = before.get(token_id), self._standing.get(token_id)
            if old is not new and (told := new or old) not in {None, ANONYMOUS_LOCAL}:
                what = "token_added" if old is None else "token_revoked" if new is None else "token_changed"
                self._audit(Act(told, what, (), "seen", None))

    def _end(self, principal: Principal, error: Unauthenticated) -> None:
        for on_end in self._watches.pop(principal).values():
            try:
                on_end(error)
            except Exception:
                _logger.exception("token_watch_failed")

    # --- uses ------------------------------------------------------------------------------------

    def used_since_asked(self) -> set[str]:
        """The ids of the tokens that were used since this was asked before."""
        used, self._used = self._used, set()
        return used
