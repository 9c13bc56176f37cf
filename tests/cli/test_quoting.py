"""Splitting of typed lines into words, and quoting of bytes as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailrace.app.cli.redis.quoting import Unbalanced, quoted, split_words


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"", []),
        (b"  \t ", []),
        (b"XLEN s", [b"XLEN", b"s"]),
        (b"  XLEN\ts\n", [b"XLEN", b"s"]),
        (rb'ECHO "a b\n\x00\xfF\"\\\q"', [b"ECHO", b'a b\n\x00\xff"\\q']),
        (rb"ECHO 'a \'b\' \n'", [b"ECHO", rb"a 'b' \n"]),
        (b'ECHO ""', [b"ECHO", b""]),
        (b'a"b c"', [b"ab c"]),
        (b"\xff\xfe", [b"\xff\xfe"]),
    ],
)
def test_words_are_cut_as_redis_cli_cuts_them(line: bytes, words: list[bytes]) -> None:
    assert split_words(line) == words


@pytest.mark.parametrize("line", [b'"', b"'", b'"a', b"'a", b'"a"b', b"'a'b", b'a"b"c', rb'"\"', rb"'\'"])
def test_an_open_quote_and_one_that_something_follows_are_refused(line: bytes) -> None:
    with pytest.raises(Unbalanced, match=r"Invalid argument\(s\)"):
        split_words(line)


@given(st.lists(st.binary()))
def test_what_is_quoted_reads_back_as_it_was(values: list[bytes]) -> None:
    assert split_words(" ".join(map(quoted, values)).encode()) == values
