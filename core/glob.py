r"""Redis's glob patterns over bytes: ``*``, ``?``, ``[abc]``, ``[a-z]``, ``[^a]``, ``\x``.

Unlike `fnmatch` they negate with ``^`` and escape with a backslash.
"""

from __future__ import annotations

import re
from functools import lru_cache


@lru_cache(maxsize=256)
def compile_glob(pattern: bytes) -> re.Pattern[bytes]:
    """A regular expression for a full match; any pattern is legal."""
    parts: list[bytes] = []
    rest = pattern
    while rest:
        part, rest = _next_part(rest)
        if part != b".*" or parts[-1:] != [b".*"]:
            parts.append(part)
    return re.compile(b"".join(parts), re.DOTALL)


def _next_part(rest: bytes) -> tuple[bytes, bytes]:
    head = rest[:1]
    if head == b"*":
        return b".*", rest[1:]
    if head == b"?":
        return b".", rest[1:]
    if head == b"[":
        return _class(rest[1:])
    if head == b"\\" and len(rest) > 1:
        return re.escape(rest[1:2]), rest[2:]
    return re.escape(head), rest[1:]


def _class(rest: bytes) -> tuple[bytes, bytes]:
    """``abc]...``: the class, and what follows it; without a closing bracket it runs to the end."""
    negated = rest.startswith(b"^")
    rest = rest[1:] if negated else rest
    members: set[int] = set()
    while rest and not rest.startswith(b"]"):
        if rest.startswith(b"\\") and len(rest) > 1:
            members.add(rest[1])
            rest = rest[2:]
        elif rest[1:2] == b"-" and rest[2:]:
            low, high = sorted((rest[0], rest[2]))
            members.update(range(low, high + 1))
            rest = rest[3:]
        else:
            members.add(rest[0])
            rest = rest[1:]
    chosen = set(range(256)) - members if negated else members
    if not chosen:
        return b"(?!)", rest[1:]
    return b"[" + b"".join(b"\\x%02x" % member for member in sorted(chosen)) + b"]", rest[1:]
