"""The token: its text, which its user stores, and its record, which the server stores.

The text is ``tlr_<id>_<secret>``: a prefix that secret scanners recognize, the id of the token, and 256
random bits. The record contains the SHA-256 of the whole text. A slow password hash is unnecessary, because
256 random bits cannot be guessed.

The module owns the rules for records, names, key patterns and durations. It never accesses the file.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from hashlib import sha256
from typing import Final, NamedTuple

from msgspec import Struct

from tailrace.api.principals import SCOPES, Principal, TokenScope
from tailrace.core.limits import PATTERN_BYTES_MAX

PREFIX: Final = "tlr_"
_SECRET_BYTES: Final = 32
_ID_BYTES: Final = 6
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@-]{0,63}", re.ASCII)
_NAME_RULE: Final = (
    "a name has 1 to 64 of the characters A-Z a-z 0-9 . _ : @ - and begins with a letter or digit"
)
_DURATION: Final = re.compile(r"([0-9]{1,6})([smhdw])", re.ASCII)
_UNIT_MS: Final = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}

DURATION_MS_MAX: Final = 36_500 * 86_400_000
"""The longest time until a token expires."""
TIME_MS_MAX: Final = 253_402_300_799_999
"""The end of the year 9999, the last year that Python's `datetime` supports."""


class TokenRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """The stored form of a token. Times are Unix milliseconds; `sha256` is hexadecimal; `keys` are globs."""

    id: str
    name: str
    sha256: str
    scopes: tuple[TokenScope, ...]
    keys: tuple[str, ...]
    created_at_ms: int
    expires_at_ms: int | None = None

    def principal(self) -> Principal:
        """Return the principal that this token authenticates."""
        patterns = tuple(pattern.encode() for pattern in self.keys)
        return Principal(self.id, self.name, frozenset(self.scopes), patterns, self.expires_at_ms)


class NewToken(NamedTuple):
    """A token that was just created. Its text exists only here."""

    text: str
    record: TokenRecord


def new_token(
    name: str | None,
    scopes: Sequence[TokenScope],
    keys: Sequence[str],
    now_ms: int,
    expires_in_ms: int | None,
) -> NewToken:
    """Create a token with random id and secret.

    `name` None: the id is the name. `keys` are globs. `expires_in_ms` None: the token never expires.
    """
    token_id = secrets.token_hex(_ID_BYTES)
    text = f"{PREFIX}{token_id}_{secrets.token_hex(_SECRET_BYTES)}"
    record = TokenRecord(
        token_id,
        name or token_id,
        digest_of(text.encode()).hex(),
        tuple(sorted(set(scopes))),
        tuple(dict.fromkeys(keys)),
        now_ms,
        None if expires_in_ms is None else now_ms + expires_in_ms,
    )
    return NewToken(text, record)


def digest_of(text: bytes) -> bytes:
    """Return the SHA-256 of a token's text."""
    return sha256(text).digest()


def complaint_about(record: TokenRecord) -> str | None:
    """Return why a record is invalid; None if it is valid."""
    if not re.fullmatch(r"[0-9a-f]{64}", record.sha256):
        return "sha256 is not 64 hexadecimal digits"
    if not _NAME.fullmatch(record.name):
        return f"the name {record.name!r} is invalid: {_NAME_RULE}"
    if not record.scopes or not set(record.scopes) <= SCOPES:
        return "it has no scope"
    if not record.keys:
        return "it has no key pattern"
    times = (record.created_at_ms, record.expires_at_ms or 0)
    if not all(0 <= time_ms <= TIME_MS_MAX for time_ms in times):
        return "a time is not in Unix milliseconds"
    return next(filter(None, map(_complaint_about_pattern, record.keys)), None)


def _complaint_about_pattern(pattern: str) -> str | None:
    """Return why a key pattern is invalid; None if it is valid."""
    if not pattern:
        return "a key pattern is empty: '*' matches all keys, and '[]' matches none"
    try:
        size_bytes = len(pattern.encode())
    except UnicodeEncodeError:
        return "a key pattern is not UTF-8: use '?' for each byte that cannot be written"
    if size_bytes > PATTERN_BYTES_MAX:
        return f"a key pattern has {size_bytes} bytes: {PATTERN_BYTES_MAX} are allowed"
    return None


# --- parsing of arguments ----------------------------------------------------------------------------


def name_from(text: str) -> str:
    """Return `text` if it is a valid name. Raises `ValueError` with a sentence for the user."""
    if text.startswith(PREFIX):
        raise ValueError(
            "this is a token, not a name. Names are shown in lists and logs, and other users see arguments"
        )
    if not _NAME.fullmatch(text):
        raise ValueError(_NAME_RULE)
    return text


def pattern_from(text: str) -> str:
    """Return `text` if it is a valid key pattern. Raises `ValueError` with a sentence for the user."""
    complaint = _complaint_about_pattern(text)
    if complaint is not None:
        raise ValueError(complaint)
    return text


def duration_ms_from(text: str) -> int:
    """Parse a duration such as `90s`, `45m`, `12h`, `30d` or `2w`; return milliseconds.

    Raises `ValueError` with a sentence for the user.
    """
    match = _DURATION.fullmatch(text)
    if match is None or not int(match[1]):
        raise ValueError("a time is a number followed by s, m, h, d or w, such as 12h or 30d")
    duration_ms = int(match[1]) * _UNIT_MS[match[2]]
    if duration_ms > DURATION_MS_MAX:
        raise ValueError("the longest time is 36500d (100 years); a token without --expires never expires")
    return duration_ms
