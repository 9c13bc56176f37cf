from __future__ import annotations

import pytest

from tailrace.core import command_table
from tailrace.core.commands import PendingRange
from tailrace.core.errors import ErrorCode
from tailrace.core.grammar.words import parse_integer
from tailrace.core.limits import IDS_PER_REQUEST_MAX, KEYS_PER_REQUEST_MAX, NAME_BYTES_MAX
from tailrace.core.parser import parse_request
from tests.support.grammar import command, keys_of, late_refusal, refused, request

TOO_LONG = b"n" * (NAME_BYTES_MAX + 1)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b"0", 0),
        (b"-1", -1),
        (b"42", 42),
        (b"9223372036854775807", 2**63 - 1),
        (b"-9223372036854775808", -(2**63)),
    ],
)
def test_an_integer_is_a_plain_signed_64_bit_decimal(raw: bytes, value: int) -> None:
    assert parse_integer(raw) == value


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"-",
        b"+1",
        b"01",
        b"-0",
        b" 1",
        b"1 ",
        b"1\n",
        b"1.0",
        b"x",
        b"\xd9\xa1",
        b"9223372036854775808",
        b"-9223372036854775809",
        b"1" * 5000,
    ],
)
def test_anything_else_is_no_integer(raw: bytes) -> None:
    assert parse_integer(raw) is None


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ((b"XLEN", TOO_LONG), "key"),
        ((b"DEL", b"k", TOO_LONG), "key"),
        ((b"XREAD", b"STREAMS", TOO_LONG, b"0"), "key"),
        ((b"XGROUP", b"DESTROY", b"k", TOO_LONG), "group name"),
        ((b"XGROUP", b"CREATECONSUMER", b"k", b"g", TOO_LONG), "consumer name"),
    ],
)
def test_a_name_that_is_too_long_is_refused_by_what_it_is(words: tuple[bytes, ...], what: str) -> None:
    error = refused(*words)
    assert error.code is ErrorCode.LIMIT_EXCEEDED
    assert error.line == f"ERR the {what} is longer than {NAME_BYTES_MAX} bytes"


def test_a_name_may_be_empty_and_as_long_as_the_limit() -> None:
    assert keys_of("XLEN ''") == (b"",)
    assert command("XPENDING k '' - + 1 ''", PendingRange).consumer == b""
    assert keys_of(f"XLEN {'n' * NAME_BYTES_MAX}") == (b"n" * NAME_BYTES_MAX,)


def test_one_command_names_a_bounded_number_of_ids() -> None:
    ids = [b"1-1"] * (IDS_PER_REQUEST_MAX + 1)
    line = f"ERR a command may name {IDS_PER_REQUEST_MAX} ids at most"
    error = refused(b"XACK", b"k", b"g", *ids)
    assert (error.code, error.line) == (ErrorCode.LIMIT_EXCEEDED, line)
    claim = request("XCLAIM k g c 0 " + " ".join(["1-1"] * (IDS_PER_REQUEST_MAX + 1))).command
    assert late_refusal(getattr(claim, "options", None)) == line


@pytest.mark.parametrize("name", [b"DEL", b"EXISTS"])
def test_one_command_names_a_bounded_number_of_keys(name: bytes) -> None:
    keys = [b"k"] * KEYS_PER_REQUEST_MAX
    parsed = parse_request([name, *keys]).command
    assert parsed is not None
    assert list(command_table.keys_of(parsed)) == keys
    error = refused(name, *keys, b"k")
    line = f"ERR a command may name {KEYS_PER_REQUEST_MAX} keys at most"
    assert (error.code, error.line) == (ErrorCode.LIMIT_EXCEEDED, line)
