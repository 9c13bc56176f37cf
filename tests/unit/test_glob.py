"""Redis's glob patterns."""

from __future__ import annotations

import pytest

from tailrace.core.glob import compile_glob


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
        (b"*ab*ab", [b"abab", b"xabyab", b"ababab"], [b"ab", b"aab", b"abb"]),
        (b"a*b?c*d", [b"abxcd", b"aabbbcd"], [b"abcd", b"abxc"]),
        (b"[\xff-a]", [b"\xff", b"\x00", b"a"], [b"b", b"\xfe"]),
        (b"*ab*", [b"ab", b"xab", b"abx", b"xabx"], [b"", b"a", b"b", b"axb"]),
        (b"**a\\*b**", [b"a*b", b"xa*bx"], [b"ab", b"axb"]),
        (b"*a\x00b*", [b"a\x00b"], [b"a", b"b", b"ab"]),
        (b"*a?*", [b"ab", b"xab"], [b"a", b"ba"]),
    ],
)
def test_a_pattern_matches_what_redis_would_match(
    pattern: bytes, matches: list[bytes], differs: list[bytes]
) -> None:
    glob = compile_glob(pattern)
    assert all(glob.matches(key) for key in matches)
    assert not any(glob.matches(key) for key in differs)
    possible = [key for key in (*differs, *matches, *differs) if key.startswith(glob.literal_prefix)]
    assert list(glob.matching(possible)) == matches


@pytest.mark.parametrize("pattern", [b"*a*a*a*a*a*a*b", b"*a" * 200 + b"*b", b"*?a" * 100 + b"*b"])
def test_the_work_of_a_match_grows_with_text_and_segment_however_many_stars_there_are(pattern: bytes) -> None:
    """A backtracking matcher would need more steps for this than there are atoms."""
    text = b"a" * 500
    assert not compile_glob(pattern).matches(text)
    assert compile_glob(pattern).steps(text) <= 64 + 2 * len(text)


@pytest.mark.parametrize(
    ("pattern", "prefix", "is_prefix"),
    [
        (b"race:*", b"race:", True),
        (b"race:**", b"race:", True),
        (b"r\\*ce:*x", b"r*ce:", False),
        (b"ra?e*", b"ra", False),
        (b"race", b"race", False),
        (b"*", b"", True),
        (b"*x*", b"", False),
    ],
)
def test_a_pattern_knows_what_its_texts_begin_with(pattern: bytes, prefix: bytes, *, is_prefix: bool) -> None:
    glob = compile_glob(pattern)
    assert (glob.literal_prefix, glob.is_prefix) == (prefix, is_prefix)
