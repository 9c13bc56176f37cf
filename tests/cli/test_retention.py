"""The retention of a stream from the command line: set, shown, removed, refused."""

from __future__ import annotations

from itertools import count

import httpx
import msgspec
import pytest

from tests.cli.shell import shell

_numbers = count()


@pytest.fixture
def key(base_url: str) -> str:
    name = f"cli-retention:{next(_numbers)}"
    httpx.put(f"{base_url}/v1/streams/{name}")
    return name


def test_rules_are_set_shown_and_removed(base_url: str, key: str) -> None:
    rules = ("--max-age", "7d", "--max-bytes", "2GiB", "--protect-unread")
    shown = msgspec.json.decode(shell(base_url, "retention", key, *rules).stdout)
    assert (shown["max_age_ms"], shown["max_bytes"]) == (604_800_000, 2 << 30)
    assert (shown["protect_unread"], shown["acknowledged"]) == (True, False)
    assert msgspec.json.decode(shell(base_url, "retention", key).stdout) == shown
    replaced = msgspec.json.decode(shell(base_url, "retention", key, "--max-length", "5").stdout)
    assert replaced["max_length"] == 5
    assert "max_age_ms" not in replaced
    assert shell(base_url, "retention", key, "--remove").stdout == b"null\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--max-age", "7 weeks"], "7d"),
        (["--max-age", "0d"], "7d"),
        (["--max-bytes", "lots"], "2GiB"),
        (["--max-length", "0"], "--max-length"),
        (["--remove", "--acknowledged"], "--remove"),
    ],
)
def test_wrong_arguments_are_refused_with_an_example(
    base_url: str, key: str, arguments: list[str], words: str
) -> None:
    answer = shell(base_url, "retention", key, *arguments)
    assert answer.returncode == 2
    assert words in answer.stderr.decode()


def test_rules_without_one_that_removes_are_refused_by_the_server(base_url: str, key: str) -> None:
    answer = shell(base_url, "retention", key, "--protect-unread")
    assert answer.returncode == 1
    assert "max_age_ms" in answer.stderr.decode()


def test_a_missing_stream_is_named(base_url: str) -> None:
    answer = shell(base_url, "retention", "missing", "--max-length", "5")
    assert answer.returncode == 1
    assert "missing" in answer.stderr.decode()
