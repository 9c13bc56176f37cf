from __future__ import annotations

import pytest

from tailrace.core.commands import (
    CopyKey,
    CountKeys,
    DeleteKeys,
    Flush,
    KeyspaceSize,
    MatchKeys,
    RenameKey,
    ScanKeys,
)
from tailrace.core.errors import ErrorCode
from tailrace.core.grammar import SimpleString
from tailrace.core.limits import PATTERN_BYTES_MAX
from tailrace.core.parser import parse_request
from tailrace.core.replies import KeyScan
from tests.support.grammar import command, refusal, refused, request

SYNTAX = "ERR syntax error"
MAX = 2**64 - 1


def test_commands_on_keys_take_their_names() -> None:
    assert command("DEL a b", DeleteKeys) == DeleteKeys((b"a", b"b"))
    assert command("EXISTS a a", CountKeys) == CountKeys((b"a", b"a"))
    assert command("TYPE a", CountKeys) == CountKeys((b"a",))
    assert command("RENAME a b", RenameKey) == RenameKey(b"a", b"b")
    assert command("COPY a b", CopyKey) == CopyKey(b"a", b"b", replace=False)
    assert command("copy a b Db 0 rePlace", CopyKey) == CopyKey(b"a", b"b", replace=True)
    assert command("KEYS race:*", MatchKeys) == MatchKeys(b"race:*")
    assert command("DBSIZE", KeyspaceSize) == KeyspaceSize()


def test_commands_on_keys_answer_as_redis_does() -> None:
    assert (request("COPY a b").to_resp(1), request("COPY a b").to_resp(0)) == (1, 0)
    for line in ("DEL a b", "EXISTS a b", "DBSIZE"):
        assert request(line).to_resp(2) == 2
    assert request("KEYS *").to_resp((b"a", b"b")) == [b"a", b"b"]
    for line in ("RENAME a b", "FLUSHDB", "FLUSHALL ASYNC"):
        assert request(line).to_resp(None) == SimpleString("OK")


def test_type_answers_the_status_stream_or_none() -> None:
    to_resp = request("TYPE a").to_resp
    assert (to_resp(1), to_resp(0)) == ("stream", "none")
    assert isinstance(to_resp(1), SimpleString)
    assert isinstance(to_resp(0), SimpleString)


@pytest.mark.parametrize("line", ["FLUSHDB", "FLUSHALL", "FLUSHDB sync", "FLUSHALL ASYNC"])
def test_flush_takes_one_mode_or_none(line: str) -> None:
    assert command(line, Flush) == Flush()


@pytest.mark.parametrize("line", ["FLUSHDB FOO", "FLUSHALL SYNC ASYNC", "FLUSHALL SYNC SYNC"])
def test_flush_refuses_anything_else(line: str) -> None:
    assert refusal(line) == SYNTAX


# --- SCAN ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "cursor"),
    [("0", 0), ("07", 7), ("+7", 7), ("''", 0), ("-1", MAX), (str(MAX), MAX), ("-0", 0)],
)
def test_a_cursor_is_read_as_c_reads_an_unsigned_number(raw: str, cursor: int) -> None:
    assert command(f"SCAN {raw}", ScanKeys) == ScanKeys(cursor)


@pytest.mark.parametrize("raw", ["x", "' 0'", "1x", "-", str(MAX + 1), "99999999999999999999999"])
def test_anything_else_is_an_invalid_cursor(raw: str) -> None:
    assert refusal(f"SCAN {raw}") == "ERR invalid cursor"


def test_scan_takes_its_options_in_any_order() -> None:
    expected = ScanKeys(3, 5, b"a*")
    assert command("SCAN 3 match a* Count 5 TYPE stream", ScanKeys) == expected
    assert command("SCAN 3 TYPE x COUNT 1 MATCH b COUNT 5 MATCH a*", ScanKeys) == expected


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ("COUNT", SYNTAX),
        ("COUNT 0", SYNTAX),
        ("COUNT -1", SYNTAX),
        ("COUNT x", "ERR value is not an integer or out of range"),
        ("MATCH", SYNTAX),
        ("FOO a", SYNTAX),
    ],
)
def test_scan_refuses(options: str, error: str) -> None:
    assert refusal(f"SCAN 0 {options}") == error


def test_scan_answers_the_cursor_as_a_string_and_the_keys() -> None:
    scan = KeyScan(17, [b"a", b"b"])
    assert request("SCAN 0").to_resp(scan) == [b"17", [b"a", b"b"]]
    assert request("SCAN 0 TYPE STREAM").to_resp(scan) == [b"17", [b"a", b"b"]]


def test_scan_for_another_type_finds_no_key() -> None:
    assert request("SCAN 0 TYPE hash").to_resp(KeyScan(17, [b"a"])) == [b"17", []]


@pytest.mark.parametrize("words", [[b"KEYS"], [b"SCAN", b"0", b"MATCH"], [b"CONFIG", b"GET", b"a"]])
def test_a_pattern_has_a_length_that_is_not_exceeded(words: list[bytes]) -> None:
    parse_request([*words, b"*" * PATTERN_BYTES_MAX])
    refusal = refused(*words, b"*" * (PATTERN_BYTES_MAX + 1))
    assert (refusal.code, refusal.line) == (
        ErrorCode.LIMIT_EXCEEDED,
        f"ERR the pattern is longer than {PATTERN_BYTES_MAX} bytes",
    )
