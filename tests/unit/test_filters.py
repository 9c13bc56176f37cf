"""Filters: which entries match, what an error of a filter says, and what bounds the cost of a filter."""

from __future__ import annotations

import os
import subprocess
import sys
from random import Random

import pytest

from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.filters import compile_filter
from tailrace.core.filters.syntax import parse
from tailrace.core.limits import FILTER_CHARACTERS_MAX, FILTER_DEPTH_MAX, FILTER_TESTS_MAX
from tailrace.core.log.entry import fragment_from_flat
from tailrace.core.replies import Entries
from tests.support.naive_filter import outcome, random_entry, random_filter

SEED = int(os.environ.get("TESTS_FILTER_SEED", "17"))


def matches(text: str, *flat: bytes) -> bool:
    return compile_filter(text).flags([fragment_from_flat(flat)])[0]


def error_of(text: str) -> StreamError:
    with pytest.raises(StreamError) as caught:
        compile_filter(text)
    assert caught.value.code is ErrorCode.INVALID_FILTER
    return caught.value


def test_compiled_filters_agree_with_the_naive_evaluation_on_random_filters_and_entries() -> None:
    random = Random(SEED)
    entries = [random_entry(random) for _ in range(40)]
    fragments = [fragment_from_flat([item for pair in entry for item in pair]) for entry in entries]
    results = set()
    for number in range(400):
        text = random_filter(random)
        condition = parse(text)
        expected = [outcome(condition, entry) for entry in entries]
        results.update(expected)
        assert compile_filter(text).flags(fragments) == [result is True for result in expected], (
            f"seed {SEED}, filter {number}: {text}"
        )
    assert results == {True, False, None}


@pytest.mark.parametrize(
    "text",
    [
        'fields.status == "failed"',
        "fields['status'] != 'ok'",
        'fields.status.startsWith("fai")',
        'fields.status.endsWith("led")',
        'fields.status in ["late", "failed"]',
        "has(fields.status) && !has(fields.other)",
        "double(fields.amount) >= 10.5",
        "int(fields.count) > 9007199254740992 && 9007199254740994 > int(fields.count)",
        'fields.status > "a" && fields.status < "g"',
        "fields.status == fields.copy",
        'fields["odd name"] == "x\\ty"',
        r"fields.status != r'\d\q'",
        r"fields.raw != rb'\\xff' && fields.status == br'failed'",
        "int(-7.9) == -7 && double(9223372036854775807) == 9223372036854775808.0",
        r'"\X4a\x4B" == "JK"',
        "double(10) == int(fields.count) || double(fields.amount) > int(1)",
        'fields.raw == b"\\xff\\x00"',
        'fields[b"\\xff"] == "binary name"',
        'fields.accent.startsWith("é")',
        '!(fields.status == "ok") || false',
        'fields.status\n  == "failed" // no comment'.partition(" //")[0],
    ],
)
def test_a_filter_matches_the_entry_that_it_describes(text: str) -> None:
    plain = [b"status", b"failed", b"copy", b"failed", b"amount", b"1.1e1", b"count", b"9007199254740993"]
    rest = [b"odd name", b"x\ty", b"raw", b"\xff\x00", b"\xff", b"binary name", b"accent", "été".encode()]
    assert matches(text, *plain, *rest)


@pytest.mark.parametrize(
    "text",
    [
        "fields.x == 'a'",
        "fields.x != 'a'",
        "!(fields.x == 'a')",
        "!(double(fields.x) > 1)",
        "fields.x <= 'z'",
    ],
)
def test_a_comparison_with_a_missing_field_matches_nothing_with_and_without_a_negation(text: str) -> None:
    assert not matches(text, b"y", b"a")


def test_a_missing_field_does_not_matter_where_another_part_decides() -> None:
    assert matches("fields.x == 'a' || has(fields.y)", b"y", b"a")
    assert matches("!(fields.x == 'a' && !has(fields.y))", b"y", b"a")
    assert not matches("fields.x == 'a' && has(fields.y)", b"y", b"a")


@pytest.mark.parametrize(
    "value", [b"", b"ten", b"nan", b"inf", b" 5", b"5 ", b"1_0", "\u0665".encode(), b"0x10"]
)
def test_what_is_not_a_decimal_number_compares_with_no_number(value: bytes) -> None:
    for operator in ("==", "!=", "<", ">"):
        assert not matches(f"double(fields.x) {operator} 5", b"x", value)
        assert not matches(f"!(int(fields.x) {operator} 5)", b"x", value)


def test_integers_are_exact_and_a_larger_integer_than_64_bits_is_not_a_number() -> None:
    assert not matches("int(fields.x) == 9007199254740992", b"x", b"9007199254740993")
    assert matches("double(fields.x) == 9007199254740992", b"x", b"9007199254740993")
    assert not matches("int(fields.x) > 0", b"x", b"9223372036854775808")
    assert not matches("int(fields.x) > 0", b"x", b"1" * 10_000)


def test_the_last_value_of_a_repeated_name_counts() -> None:
    assert matches("fields.k == '2'", b"k", b"1", b"k", b"2")
    assert not matches("fields.k == '1'", b"k", b"1", b"k", b"2")


def test_bytes_that_are_not_utf8_are_compared_byte_for_byte() -> None:
    assert matches('fields.x != "\\u00ff"', b"x", b"\xff")
    assert matches('fields.x.startsWith("a")', b"x", b"a\xff")
    assert not matches('fields.x == b"\\xff"', b"x", b"\xfe")


def test_a_name_that_json_escapes_can_be_filtered() -> None:
    assert matches("fields['a\\nb'] == 'x' && fields.y == 'z'", b"a\nb", b"x", b"y", b"z")


def test_a_filter_keeps_the_order_and_the_ids_of_the_entries_that_match() -> None:
    fragments = [fragment_from_flat([b"n", b"%d" % number]) for number in range(6)]
    chosen = compile_filter("int(fields.n) >= 4").select(Entries(range(10, 16), fragments))
    assert chosen == Entries([14, 15], fragments[4:])


@pytest.mark.parametrize(
    ("text", "offset", "words"),
    [
        ("", 0, "expected a condition"),
        ("fields.x", 0, "`fields.x` is a text"),
        ('fields.x = "a"', 9, "equality is `==`"),
        ("fields.x > 10", 9, "double(fields.x)"),
        ('!fields.x == "a"', 1, "parentheses"),
        ('status == "x"', 0, "write `fields.status`"),
        ('fields.x == "abc', 12, "no closing quote"),
        ('fields.x == "a" and true', 16, "`and` is `&&`"),
        ('fields.x.matches("a+")', 9, "no method `matches`"),
        ('fields.x == "a" &&', 18, "the filter ends here"),
        ('(fields.x == "a"', 16, "expected `)`"),
        ('fields.x in "a"', 12, "needs a list"),
        ('fields.x in ["a", 1]', 18, "texts in quotes only"),
        ('fields == "a"', 0, "name one"),
        ('fields.a.b == "x"', 9, "only `fields` has members"),
        ('fields[1] == "x"', 7, "a text in quotes"),
        ('has("x")', 4, "needs a field"),
        ("has()", 0, "takes one argument, not 0"),
        ("int(fields.a, fields.b) > 1", 14, "takes one argument, not 2"),
        ("size(fields.x) > 1", 0, "no function `size`"),
        ('fields.x == "\\q"', 13, "not an escape"),
        ('fields.x == b"\\u00ff"', 14, "not an escape"),
        ('fields.x == "\\ud800"', 13, "not an escape"),
        ("int(fields.x) == 9223372036854775808", 17, "64 bits"),
        ("int(fields.x) == 1e999", 17, "too large"),
        ("int(fields.x) == int(1e99)", 21, "64 bits"),
        ("fields.x == null", 12, "has(fields.status)"),
        ("fields.x == true", 12, "this is a condition"),
        ("int(int(fields.x)) == 1", 4, "this is a number"),
        ("double(fields.x) + 1 > 2", 17, "an operator"),
        ('fields.a == "x" == "y"', 16, "expected"),
        ("true && fields.a", 8, "`&&` joins conditions"),
        ("true || [ ]", 8, "a list"),
        ('["a"].startsWith("a")', 0, "this is a list"),
        ("fields.x ? true : false", 9, "no conditional operator"),
        ("{}", 0, "found `{`"),
        ("fields.a == \u201cx\u201d", 12, "found `\u201c`; texts are in straight quotes"),
    ],
)
def test_an_error_says_where_it_is_and_what_to_do(text: str, offset: int, words: str) -> None:
    error = error_of(text)
    assert error.details["offset"] == str(offset)
    assert words in error.line
    assert f"at character {offset + 1}: " in error.line
    filter_line, caret = error.details["excerpt"].split("\n")
    assert filter_line == text
    assert caret == " " * offset + "^"


@pytest.mark.parametrize(("text", "name"), [("true\u00a0&& true", "U+00A0"), ("true\ufeff", "U+FEFF")])
def test_an_error_names_a_character_that_cannot_be_seen(text: str, name: str) -> None:
    error = error_of(text)
    assert f"at character 5: expected an operator such as `==` or `&&`, found `{name}`" in error.line
    assert error.details["excerpt"].startswith(text.replace(text[4], " "))


def test_the_excerpt_of_a_long_filter_shows_the_place_on_one_line() -> None:
    text = " && ".join(['fields.name == "value"'] * 20)
    cut = text.replace('" &&', '" \n?? &&').replace('" \n?? &&', '" &&', 5)
    line, caret = error_of(cut).details["excerpt"].split("\n")
    assert line[len(caret) - 1] == "?"
    assert line.startswith("...")
    assert line.endswith("...")


def test_the_length_the_depth_and_the_number_of_tests_of_a_filter_are_bounded() -> None:
    assert "4096 characters at most" in error_of(" " * FILTER_CHARACTERS_MAX + "true").line
    assert "deep at most" in error_of("!" * FILTER_DEPTH_MAX + "true").line
    assert f"{FILTER_TESTS_MAX} tests at most" in error_of("||".join(["true"] * (FILTER_TESTS_MAX + 1))).line
    nested = "||".join(["(" + "&&".join(["true"] * 9) + ")"] * 9)
    assert f"{FILTER_TESTS_MAX} tests at most" in error_of(nested).line
    assert matches("!" * (FILTER_DEPTH_MAX - 2) + "true", b"x", b"y")
    assert matches("&&".join(["true"] * FILTER_TESTS_MAX), b"x", b"y")


@pytest.mark.parametrize(("tests", "entries"), [(1, 1000), (8, 1000), (9, 500), (64, 125)])
def test_a_filter_with_many_tests_examines_fewer_entries_at_once(tests: int, entries: int) -> None:
    assert compile_filter("&&".join(["!has(fields.x)"] * tests)).step_entries == entries


@pytest.mark.parametrize("piece", ["(", "!", "[", "fields[", "has(", "true&&(", '"', "\\", "1", "a.", "'\\"])
def test_any_repetition_gets_an_error_or_a_filter_and_never_another_exception(piece: str) -> None:
    text = (piece * FILTER_CHARACTERS_MAX)[:FILTER_CHARACTERS_MAX]
    assert is_valid_or_refused(text) is False


def is_valid_or_refused(text: str) -> bool:
    """Return whether the text is a filter. Any error must have a place in the text."""
    try:
        compile_filter(text)
    except StreamError as refusal:
        error = refusal
    else:
        return True
    assert error.code is ErrorCode.INVALID_FILTER, text
    assert 0 <= int(error.details["offset"]) <= len(text), text
    return False


def test_random_text_gets_an_error_or_a_filter_and_never_another_exception() -> None:
    random = Random(SEED)
    pieces = [
        "fields",
        ".",
        "x",
        "==",
        "!",
        "(",
        ")",
        "[",
        "]",
        '"a"',
        "1",
        "&&",
        "||",
        " ",
        "in",
        "has",
        ",",
        "é",
    ]
    for _ in range(2000):
        text = "".join(random.choices(pieces, k=random.randint(1, 9)))
        is_valid_or_refused(text)


def test_the_server_loads_the_parser_only_with_the_first_filter() -> None:
    program = "import sys, tailrace.app.main, tailrace.core.engine; sys.exit('lark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
