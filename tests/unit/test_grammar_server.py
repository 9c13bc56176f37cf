from __future__ import annotations

import pytest

from tailrace.core.commands import GetConfig, ServerInfo, ServerTime, SetConfig
from tailrace.core.grammar import SimpleString, server
from tailrace.core.grammar.server import parse_info
from tailrace.core.grammar.words import Words
from tailrace.core.replies import ServerStats
from tests.support.grammar import command, refusal, refused, request

STATS = ServerStats(streams=2, entries=30, groups=4, pending=5, now_ms=1_700_000_000_123, blocked_clients=6)


def info(line: str, stats: ServerStats = STATS) -> str:
    answer = request(line).to_resp(stats)
    assert isinstance(answer, bytes)
    return answer.decode()


def test_ping_answers_pong_or_its_message() -> None:
    assert request("PING").to_resp(None) == SimpleString("PONG")
    assert isinstance(request("PING").to_resp(None), SimpleString)
    assert request("PING hello").to_resp(None) == b"hello"
    assert request("PING").command is None
    assert refusal("PING a b") == "ERR wrong number of arguments for 'ping' command"


def test_echo_answers_its_message() -> None:
    assert request("ECHO ''").to_resp(None) == b""
    assert request("ECHO hello").command is None


def test_time_answers_seconds_and_microseconds_as_strings() -> None:
    assert command("TIME", ServerTime) == ServerTime()
    assert request("TIME").to_resp(1_700_000_000_123) == [b"1700000000", b"123000"]


# --- INFO ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", ["INFO", "INFO all", "INFO Default", "INFO everything", "INFO clients all"])
def test_info_answers_every_section_with_a_blank_line_between_them(line: str) -> None:
    assert command(line, ServerInfo) == ServerInfo()
    sections = info(line).split("\r\n\r\n")
    headings = [section.partition("\r\n")[0] for section in sections]
    assert headings == ["# Server", "# Clients", "# Memory", "# Stats", "# Keyspace"]


def test_info_answers_the_sections_that_were_named_in_its_own_order() -> None:
    assert info("INFO Keyspace clients") == (
        "# Clients\r\nblocked_clients:6\r\n\r\n# Keyspace\r\ndb0:keys=2,expires=0,avg_ttl=0\r\n"
    )


def test_info_of_an_unknown_section_is_empty() -> None:
    assert info("INFO foo") == ""


def test_info_of_an_empty_keyspace_lists_no_database() -> None:
    assert info("INFO keyspace", ServerStats(0, 0, 0, 0, 0)) == "# Keyspace\r\n"


def test_info_counts_what_the_streams_hold() -> None:
    assert info("INFO stats") == (
        "# Stats\r\nstream_entries:30\r\nstream_groups:4\r\nstream_pending_entries:5\r\n"
    )


def test_info_says_which_redis_this_is_like_and_which_version_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "version", {"tailrace": "1.2.3"}.__getitem__)
    server._own_version.cache_clear()
    text = info("INFO server")
    server._own_version.cache_clear()
    assert "redis_version:8.10.0-compatible\r\n" in text
    assert "tailrace_version:1.2.3\r\n" in text
    assert "server_time_usec:1700000000123000\r\n" in text


def test_info_of_a_program_that_is_not_installed_has_no_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_DISTRIBUTION", "tailrace-that-is-not-installed")
    server._own_version.cache_clear()
    _, to_resp = parse_info(Words("info", b"INFO", [b"server"]))
    answer = to_resp(STATS)
    server._own_version.cache_clear()
    assert isinstance(answer, bytes)
    assert b"tailrace_version:unknown\r\n" in answer


# --- CONFIG ----------------------------------------------------------------------------------------


def test_config_get_takes_patterns_in_any_case() -> None:
    assert command("CONFIG GET Stream-* x", GetConfig) == GetConfig((b"stream-*", b"x"))


def test_config_get_answers_names_and_values_as_strings() -> None:
    values = {"stream-node-max-bytes": 4096, "stream-node-max-entries": 100}
    expected = [b"stream-node-max-bytes", b"4096", b"stream-node-max-entries", b"100"]
    assert request("CONFIG GET stream-node-*").to_resp(values) == expected
    assert request("CONFIG GET foo").to_resp({}) == []


def test_config_get_answers_a_full_name_as_it_was_typed() -> None:
    values = {"stream-node-max-entries": 100}
    answer = request("CONFIG GET Stream-Node-Max-Entries").to_resp(values)
    assert answer == [b"Stream-Node-Max-Entries", b"100"]


@pytest.mark.parametrize(
    ("name", "raw", "value"),
    [
        ("stream-node-max-entries", "0", 0),
        ("Stream-Node-Max-Entries", "100", 100),
        ("stream-node-max-bytes", "4096", 4096),
        ("stream-node-max-bytes", "007", 7),
        ("stream-node-max-bytes", "1B", 1),
        ("stream-node-max-bytes", "2k", 2000),
        ("stream-node-max-bytes", "2kB", 2048),
        ("stream-node-max-bytes", "1m", 1_000_000),
        ("stream-node-max-bytes", "1mb", 1 << 20),
        ("stream-node-max-bytes", "1g", 1_000_000_000),
        ("stream-node-max-bytes", "1gb", 1 << 30),
        ("stream-node-max-bytes", "''", 0),
        ("stream-idmp-duration", "86400", 86400),
        ("stream-idmp-maxsize", "10000", 10000),
    ],
)
def test_config_set_takes_a_value_of_the_setting_s_kind(name: str, raw: str, value: int) -> None:
    assert command(f"CONFIG SET {name} {raw}", SetConfig) == SetConfig(((name.lower(), value),))


def test_config_set_takes_several_settings_and_answers_ok() -> None:
    line = "CONFIG SET stream-idmp-duration 1 stream-idmp-maxsize 2"
    assert command(line, SetConfig) == SetConfig((("stream-idmp-duration", 1), ("stream-idmp-maxsize", 2)))
    assert request(line).to_resp(None) == "OK"


@pytest.mark.parametrize(
    ("name", "raw", "reason"),
    [
        ("stream-node-max-entries", "x", "argument couldn't be parsed into an integer"),
        ("stream-node-max-entries", "1k", "argument couldn't be parsed into an integer"),
        ("stream-node-max-entries", "99999999999999999999", "argument couldn't be parsed into an integer"),
        (
            "stream-node-max-entries",
            "-1",
            "argument must be between 0 and 9223372036854775807 inclusive",
        ),
        ("stream-node-max-bytes", "1zb", "argument must be a memory value"),
        ("stream-node-max-bytes", "-1", "argument must be a memory value"),
        ("stream-node-max-bytes", "1.5kb", "argument must be a memory value"),
        (
            "stream-node-max-bytes",
            "99999999999999999999",
            "argument must be between 0 and 9223372036854775807 inclusive",
        ),
        ("stream-idmp-duration", "0", "argument must be between 1 and 86400 inclusive"),
        ("stream-idmp-maxsize", "10001", "argument must be between 1 and 10000 inclusive"),
    ],
)
def test_config_set_refuses_a_value_and_says_why(name: str, raw: str, reason: str) -> None:
    line = f"ERR CONFIG SET failed (possibly related to argument '{name}') - {reason}"
    assert refusal(f"CONFIG SET {name.title()} {raw}") == line


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("a b c", "ERR syntax error"),
        ("foo 1", "ERR Unknown option or number of arguments for CONFIG SET - 'foo'"),
        (
            "stream-node-max-entries x Foo 1",
            "ERR Unknown option or number of arguments for CONFIG SET - 'Foo'",
        ),
        (
            "stream-node-max-entries x stream-node-max-entries 1",
            (
                "ERR CONFIG SET failed (possibly related to argument 'stream-node-max-entries')"
                " - duplicate parameter"
            ),
        ),
    ],
)
def test_config_set_judges_all_names_before_any_value(words: str, error: str) -> None:
    assert refusal(f"CONFIG SET {words}") == error


def test_config_set_quotes_an_unknown_name_on_one_line() -> None:
    line = "ERR Unknown option or number of arguments for CONFIG SET - 'a b'"
    assert refused(b"CONFIG", b"SET", b"a\nb", b"c").line == line
