"""Glob patterns as Redis understands them."""

from __future__ import annotations

import pytest

from core.glob import compile_glob


@pytest.mark.parametrize(
    ("pattern", "matches", "differs"),
    [
        (b"race:*", [b"race:", b"race:france", b"race:a\nb"], [b"races", b"rac"]),
        (b"**", [b"", b"x"], []),
        (b"h?llo", [b"hello", b"h\xffllo"], [b"hllo", b"heello"]),
        (b"h[ae]llo", [b"hello", b"hallo"], [b"hillo"]),
        (b"h[^e]llo", [b"hallo"], [b"hello"]),
        (b"h[a-c]llo", [b"hbllo"], [b"hdllo"]),
        (b"h[c-a]llo", [b"hbllo"], [b"hdllo"]),
        (b"h[a\\]]llo", [b"hallo", b"h]llo"], [b"h\\llo"]),
        (b"h[ab", [b"ha", b"hb"], [b"h", b"h["]),
        (b"h[]x", [], [b"hx", b"h]x"]),
        (b"h[^]x", [b"hax"], [b"hx"]),
        (b"a\\*b", [b"a*b"], [b"axb"]),
        (b"a\\", [b"a\\"], [b"a"]),
        (b"a.b", [b"a.b"], [b"axb"]),
        (b"", [b""], [b"a"]),
    ],
)
def test_a_pattern_matches_what_redis_would_match(
    pattern: bytes, matches: list[bytes], differs: list[bytes]
) -> None:
    compiled = compile_glob(pattern)
    assert all(compiled.fullmatch(key) for key in matches)
    assert not any(compiled.fullmatch(key) for key in differs)
