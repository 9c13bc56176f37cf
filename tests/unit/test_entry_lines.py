"""Lines of NDJSON become entries, however they are written; an error names the first wrong line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailrace.core.limits import ENTRY_BYTES_MAX, FIELDS_PER_ENTRY_MAX
from tailrace.core.log.entry import BadEntry, fragment_from_fields
from tailrace.core.log.entry_lines import (
    SHAPE_FIELDS_MAX,
    SHAPE_LINES_MIN,
    SHAPE_NAMES_BYTES_MAX,
    SHAPES_MAX,
    expression_like,
    fragments_from_ndjson,
)
from tailrace.core.log.node_size import AlikeFragments, measure


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\n\n"])
def test_a_canonical_body_is_taken_line_by_line_as_it_stands(end: bytes) -> None:
    assert fragments_from_ndjson(b'{"a":"1"}\n{"b":"2"}' + end) == [b'{"a":"1"}', b'{"b":"2"}']


def test_other_spellings_blank_lines_and_carriage_returns_are_understood() -> None:
    body = b'\r\n{"a": "1"}\r\n\r\n  {"b":"\\u0041"}  \n'
    assert fragments_from_ndjson(body) == [b'{"a":"1"}', b'{"b":"A"}']


def test_only_lines_without_escapes_are_known_to_be_alike() -> None:
    plain = [b'{"name":"%d","other":""}' % number for number in range(SHAPE_LINES_MIN + 10)]
    escaped = [*plain[:-1], b'{"name":"\\"","other":""}']
    others = [*plain[:-1], b'{"other":"1"}']
    found = [fragments_from_ndjson(b"\n".join(lines)) for lines in (plain, escaped, others)]
    assert found == [plain, escaped, others]
    assert [type(fragments) for fragments in found] == [AlikeFragments, list, list]
    assert len({measure(fragment) for fragment in plain}) == 1


def test_an_empty_body_has_no_entries() -> None:
    assert fragments_from_ndjson(b"") == []


@pytest.mark.parametrize("line", [b'{"a":1}', b"{}", b'{"a":"1","a":"2"}', b"nonsense", b'{"a":"\xff"}'])
def test_the_first_wrong_line_is_named(line: bytes) -> None:
    with pytest.raises(BadEntry, match=r"^line 3: "):
        fragments_from_ndjson(b'{"a":"1"}\n\n' + line + b"\n{}")


_names, _values = st.text('ab\\"{é ', max_size=3), st.text('xy\\": ', max_size=3)


@given(st.lists(st.lists(st.tuples(_names, _values), max_size=4)))
def test_lines_in_any_spelling_lose_nothing_or_are_refused_for_a_name_that_repeats(
    rows: list[list[tuple[str, str]]],
) -> None:
    body = "\n".join(_spaced(row) for row in rows).encode()
    bad = next((number for number, row in enumerate(rows, 1) if not row or len(dict(row)) < len(row)), None)
    if bad is None:
        assert list(map(json.loads, fragments_from_ndjson(body))) == list(map(dict, rows))
    else:
        with pytest.raises(BadEntry, match=f"^line {bad}: "):
            fragments_from_ndjson(body)


def _spaced(row: list[tuple[str, str]]) -> str:
    return "{ " + " , ".join(f"{json.dumps(name)} : {json.dumps(value)}" for name, value in row) + " }"


# --- many lines of one shape -------------------------------------------------------------------------


def alike(names: tuple[str, ...] = ("rider", "speed"), count: int = SHAPE_LINES_MIN) -> list[bytes]:
    return [
        json.dumps(
            {name: f"{name} {number}" for name in names}, separators=(",", ":"), ensure_ascii=False
        ).encode()
        for number in range(count)
    ]


def one_by_one(lines: list[bytes]) -> list[bytes] | str:
    """Decode line by line. Return the entries, or the error of the first invalid line."""
    fragments = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                fragments.append(fragment_from_fields(line.strip()))
            except BadEntry as error:
                return f"line {number}: {error}"
    return fragments


def together(lines: list[bytes]) -> list[bytes] | str:
    try:
        return fragments_from_ndjson(b"\n".join(lines))
    except BadEntry as error:
        return str(error)


ODDITIES: dict[str, Callable[[bytes], bytes]] = {
    "as it is": lambda line: line,
    "spaced": lambda line: line.replace(b":", b": "),
    "in another order": lambda _: b'{"speed":"1","rider":"2"}',
    "without a name": lambda _: b'{"rider":"1"}',
    "with one more": lambda line: line[:-1] + b',"more":"1"}',
    "with a name twice": lambda line: line[:-1] + b',"rider":"again"}',
    "with a name twice, as long": lambda _: b'{"rider":"1","rider":"2"}',
    "with other names": lambda _: b'{"a":"1","b":"2"}',
    "escaped": lambda _: b'{"rider":"\\u0041","speed":"\\/"}',
    "with a line break in a string": lambda _: b'{"rider":"\\n","speed":"1"}',
    "a number": lambda _: b'{"rider":1,"speed":"2"}',
    "null": lambda _: b'{"rider":null,"speed":"2"}',
    "not UTF-8": lambda _: b'{"rider":"\xff","speed":"2"}',
    "half a surrogate pair": lambda _: b'{"rider":"\\ud800","speed":"2"}',
    "empty": lambda _: b"",
    "blank": lambda _: b"  ",
    "an empty object": lambda _: b"{}",
    "an array": lambda _: b'["1","2"]',
    "two objects": lambda line: line + line,
    "cut off": lambda line: line[:-1],
    "with a carriage return": lambda line: line + b"\r",
    "in other letters": lambda _: '{"rider":"Zoë","speed":"速い"}'.encode(),
}


@pytest.mark.parametrize("place", [0, 1, SHAPE_LINES_MIN // 2, SHAPE_LINES_MIN - 1])
@pytest.mark.parametrize("oddity", ODDITIES.values(), ids=ODDITIES)
def test_one_odd_line_among_many_alike_is_taken_as_it_would_be_alone(
    oddity: Callable[[bytes], bytes], place: int
) -> None:
    lines = alike()
    lines[place] = oddity(lines[place])
    assert together(lines) == one_by_one(lines)


@given(st.lists(st.text(max_size=4), max_size=4, unique=True), st.sampled_from([-1, 0, 1]))
def test_lines_of_any_names_are_taken_as_each_would_be_alone(names: list[str], more: int) -> None:
    lines = alike(tuple(names), SHAPE_LINES_MIN + more)
    assert together(lines) == one_by_one(lines)


@pytest.mark.parametrize("count", [1, SHAPE_FIELDS_MAX, SHAPE_FIELDS_MAX + 1, FIELDS_PER_ENTRY_MAX + 1])
def test_lines_may_have_as_many_names_as_an_entry_may(count: int) -> None:
    # Equal lines, because a hundred lines with so many names take seconds to make.
    lines = alike(tuple(map(str, range(count))), 1) * SHAPE_LINES_MIN
    assert together(lines) == one_by_one(lines)


def test_a_value_with_any_byte_among_many_alike_is_taken_as_it_would_be_alone() -> None:
    for byte in range(256):
        lines = alike()
        lines[5] = b'{"rider":"a%cb","speed":"1"}' % byte
        lines = b"\n".join(lines).split(b"\n")
        assert together(lines) == one_by_one(lines), byte


def test_names_are_compared_as_they_stand() -> None:
    lines = alike(("(?:a|b)*+", "$^.[]{}", "%b"))
    assert together(lines) == lines
    for change in ((b"a|b", b"b"), (b"^.", b"^x"), (b"%b", b"%c")):
        changed = [*lines[:9], lines[9].replace(*change), *lines[10:]]
        assert together(changed) == changed == one_by_one(changed)


@pytest.mark.parametrize("length", [SHAPE_NAMES_BYTES_MAX, SHAPE_NAMES_BYTES_MAX + 1])
def test_lines_with_long_names_are_taken_as_they_stand(length: int) -> None:
    lines = alike(("a" * length, "b"))
    assert together(lines) == lines


def test_lines_with_the_shortest_escapes_are_taken_as_they_stand() -> None:
    lines = [rb'{"rider":"\"%d\"","speed":"\n"}' % number for number in range(SHAPE_LINES_MIN)]
    assert together(lines) == lines


def test_one_line_over_the_byte_limit_among_many_alike_is_named() -> None:
    lines = alike()
    lines[7] = b'{"rider":"%b","speed":"1"}' % (b"x" * ENTRY_BYTES_MAX)
    with pytest.raises(BadEntry, match=r"^line 8: ") as refused:
        fragments_from_ndjson(b"\n".join(lines))
    assert refused.value.too_large


def test_more_shapes_than_are_remembered_are_read_all_the_same() -> None:
    for number in (*range(2 * SHAPES_MAX), 0):
        lines = alike((f"name {number}",))
        assert fragments_from_ndjson(b"\n".join(lines)) == lines


@pytest.mark.parametrize(
    "fragment",
    [
        b"",
        b"{}",
        b'[["a","1"],["a","2"]]',
        b'~{"AA==":"/w=="}',
        b'{"a\\n":"1"}',
        b'{"%b":"1"}' % (b"n" * SHAPE_NAMES_BYTES_MAX),
        b"{%b}" % b",".join(b'"%d":"1"' % number for number in range(SHAPE_FIELDS_MAX + 1)),
    ],
)
def test_there_is_no_expression_for_pairs_base64_escapes_and_many_or_long_names(fragment: bytes) -> None:
    assert expression_like(fragment) is None


def test_an_expression_matches_fragments_with_the_same_names() -> None:
    expression = expression_like(b'{"a":"1","b.":"2"}')
    assert expression is not None
    like = re.compile(expression).fullmatch
    assert like(b'{"a":"","b.":"x y\x7f"}')
    for other in (b'{"a":"1"}', b'{"b.":"2","a":"1"}', b'{"a":"1","bc":"2"}', b'{"a":"1", "b.":"2"}'):
        assert like(other) is None
    for value in ('"', "\\", "\n", "\0", "é"):
        assert like(b'{"a":"1","b.":"%b"}' % value.encode()) is None
