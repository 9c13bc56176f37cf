"""A body of the most frequent form is read alike with and without an expectation of its names."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailrace.api.operations import appends
from tailrace.api.operations.appends import EXPRESSION_BYTES_MAX, PLAIN_BYTES_MAX, PlainBodies, plain_fragment
from tailrace.core.log.entry_lines import SHAPE_FIELDS_MAX, SHAPE_NAMES_BYTES_MAX

USUAL = b'{"fields":{"rider":"Castilla","speed":"30.2"}}'


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Expect names after two bodies."""
    monkeypatch.setattr(appends, "UNLIKE_MAX", 2)


def expecting(raw: bytes) -> PlainBodies:
    """What has read `raw` often."""
    plain = PlainBodies()
    for _ in range(2):
        plain.fragment_of(raw)
    return plain


def reads(plain: PlainBodies, monkeypatch: pytest.MonkeyPatch, raw: bytes) -> list[bytes]:
    """The bodies that have to be decoded when `plain` reads `raw`."""
    decoded: list[bytes] = []

    def decode(body: bytes) -> bytes | None:
        decoded.append(body)
        return plain_fragment(body)

    with monkeypatch.context() as patch:
        patch.setattr(appends, "plain_fragment", decode)
        assert plain.fragment_of(raw) == plain_fragment(raw)
    return decoded


def test_bodies_with_the_usual_names_are_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = PlainBodies()
    assert [len(reads(plain, monkeypatch, USUAL)) for _ in range(4)] == [1, 1, 0, 0]
    assert reads(plain, monkeypatch, USUAL.replace(b"Castilla", b"")) == []


def test_other_names_become_the_usual_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, other = expecting(USUAL), b'{"fields":{"a":"1"}}'
    assert [len(reads(plain, monkeypatch, other)) for _ in range(3)] == [1, 1, 0]
    assert len(reads(plain, monkeypatch, USUAL)) == 1


@pytest.mark.parametrize(
    "names",
    [
        ["n" * SHAPE_NAMES_BYTES_MAX],
        ["n" * (EXPRESSION_BYTES_MAX - 20)],
        [str(number) for number in range(SHAPE_FIELDS_MAX + 1)],
        ['quoted"'],
        ["back\\slash"],
        ["control\n"],
    ],
    ids=["long", "long expression", "many", "quoted", "backslash", "control"],
)
def test_names_that_make_no_expression_are_decoded(names: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    body = json.dumps({"fields": dict.fromkeys(names, "x")}, separators=(",", ":")).encode()
    plain = expecting(body)
    assert reads(plain, monkeypatch, body) == [body]


@pytest.mark.parametrize("name", ["", ".*", "é", "(", "a-z", "\x7f"])
def test_a_name_means_itself_in_an_expression(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    body = json.dumps({"fields": {name: "x"}}, ensure_ascii=False, separators=(",", ":")).encode()
    plain = expecting(body)
    assert reads(plain, monkeypatch, body) == []
    for other in (b'{"fields":{"xyz":"x"}}', body.replace(b'"x"', b'"x","x":"y"')):
        assert reads(plain, monkeypatch, other) == [other]


@pytest.mark.parametrize(
    "body", [b'{"fields": {"rider": "Castilla"}}', '{"fields":{"rider":"Émile"}}'.encode()]
)
def test_a_client_whose_bodies_never_match_has_no_expression(body: bytes) -> None:
    assert expecting(body)._match is None


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{}",
        b'{"fields":{}}',
        b'{"fields":{"a":"1"}}',
        b'{"fields":{"rider":"Castilla"}}',
        b'{"fields":{"speed":"30.2","rider":"Castilla"}}',
        b'{"fields":{"rider":"Castilla","speed":30.2}}',
        b'{"fields":{"rider":"Castilla","rider":"Castilla"}}',
        b'{"fields":{"rider":"Castilla","speed":"30.2","speed":"30.3"}}',
        b'{"fields":{"rider":"Castilla", "speed":"30.2"}}',
        b'{"fields": {"rider":"Castilla","speed":"30.2"}}',
        b'{"fields":{"rider":"Castilla","speed":"30.2"} }',
        b'{"fields":{"rider":"Castilla","speed":"30.2"}}\n',
        b'{"fields":{"rider":"Castilla","speed":"30.2"},"nomkstream":true}',
        b'{"fields":{"rider":"Castilla","speed":"30.2"},"trim":{"max_length":1,"references":"keep"}}',
        b'{"fields":{"rider":"Castilla","speed":"30.2"},"fields":{"rider":"Castilla","speed":"30.2"}}',
        b'{"fields":{"rider":"Castilla","speed":"30.2"}\n{"rider":"Castilla","speed":"30.2"}}',
        b'{"fields":{"rider":"\\u0041","speed":"\\n"}}',
        '{"fields":{"rider":"Émile","speed":"🚲"}}'.encode(),
        b'{"fields":{"rider":"\xff","speed":"30.2"}}',
        b'{"fields":{"rider":"\xed\xa0\x80","speed":"30.2"}}',
        b'{"fields":{"rider":"%b","speed":"30.2"}}' % (b"x" * PLAIN_BYTES_MAX),
    ],
)
def test_the_expectation_changes_no_fragment(raw: bytes) -> None:
    assert expecting(USUAL).fragment_of(raw) == plain_fragment(raw)


@given(st.binary(max_size=3), st.integers(0, len(USUAL)), st.integers(0, 3))
def test_a_body_that_differs_anywhere_is_read_as_without_an_expectation(
    piece: bytes, start: int, removed: int
) -> None:
    raw = USUAL[:start] + piece + USUAL[start + removed :]
    assert expecting(USUAL).fragment_of(raw) == plain_fragment(raw)


def test_every_byte_of_a_value_is_read_as_without_an_expectation() -> None:
    plain = expecting(USUAL)
    for byte in range(256):
        raw = USUAL.replace(b"Castilla", bytes((byte,)))
        assert plain.fragment_of(raw) == plain_fragment(raw)
