"""`tailrace group` and `tailrace consumer`: creating, moving and deleting groups, and deleting consumers."""

from __future__ import annotations

from itertools import count
from typing import Any

import httpx
import msgspec
import pytest

from tests.cli.shell import shell

_numbers = count()


@pytest.fixture
def key(base_url: str) -> str:
    """A stream of the entries 1000-0, 2000-0 and 3000-0."""
    name = f"cli-groups:{next(_numbers)}"
    for value in ("1000-0", "2000-0", "3000-0"):
        body = {"id": value, "fields": {"n": "1"}}
        assert httpx.post(f"{base_url}/v1/streams/{name}/entries", json=body).status_code == 201
    return name


def position(base_url: str, key: str, group: str) -> str:
    return str(httpx.get(f"{base_url}/v1/streams/{key}/groups/{group}").json()["last_delivered_id"])


def take(base_url: str, key: str, group: str, consumer: str) -> None:
    body = {"group": group, "consumer": consumer, "streams": [{"key": key}]}
    assert httpx.post(f"{base_url}/v1/read-group", json=body).status_code == 200


@pytest.mark.parametrize(
    ("options", "after"),
    [
        ([], "3000-0"),
        (["--after", "0"], "0-0"),
        (["--after", "1000-0"], "1000-0"),
        (["--since", "1970-01-01T00:00:02Z"], "1999-18446744073709551615"),
    ],
)
def test_a_group_begins_where_the_options_say(
    base_url: str, key: str, options: list[str], after: str
) -> None:
    created = shell(base_url, "group", "create", key, "g", *options)
    assert (created.returncode, created.stdout.decode()) == (0, f"g is created, after {after}\n")
    assert position(base_url, key, "g") == after
    again = shell(base_url, "group", "create", key, "g")
    assert (again.returncode, b"BUSYGROUP" in again.stderr) == (1, True)


def test_a_group_is_created_with_its_stream_only_if_that_is_asked_for(base_url: str) -> None:
    key = f"cli-groups:{next(_numbers)}"
    assert shell(base_url, "group", "create", key, "g").returncode == 1
    answer = shell(base_url, "group", "create", key, "g", "--create-stream", "--json")
    assert msgspec.json.decode(answer.stdout)["name"] == "g"


def test_a_group_that_is_moved_back_delivers_again(base_url: str, key: str) -> None:
    shell(base_url, "group", "create", key, "g")
    moved = shell(base_url, "group", "seek", key, "g", "0")
    assert moved.stdout.decode() == "g continues after 0-0\n"
    moved = shell(base_url, "group", "seek", key, "g", "--since", "1970-01-01T00:00:03Z", "--json")
    state: Any = msgspec.json.decode(moved.stdout)
    assert state["last_delivered_id"] == "2999-18446744073709551615"
    assert shell(base_url, "group", "seek", key, "g", "$").stdout.decode() == "g continues after 3000-0\n"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["group", "seek", "s", "g"], "give an ID or --since"),
        (["group", "seek", "s", "g", "0", "--since", "2026-01-01T00:00"], "either an id or --since"),
        (["consumer", "delete", "s", "g", "c", "--force", "--transfer-to", "d"], "exclude each other"),
    ],
)
def test_options_that_contradict_each_other_change_nothing(base_url: str, words: list[str], why: str) -> None:
    refused = shell(base_url, *words)
    assert (refused.returncode, why in refused.stderr.decode()) == (2, True)


def test_a_group_is_deleted_only_if_somebody_agrees(base_url: str, key: str) -> None:
    shell(base_url, "group", "create", key, "g", "--after", "0")
    take(base_url, key, "g", "alice")
    asked = shell(base_url, "group", "delete", key, "g")
    assert (asked.returncode, b"needs --yes" in asked.stderr) == (1, True)
    assert position(base_url, key, "g") == "3000-0"
    deleted = shell(base_url, "group", "delete", key, "g", "--yes")
    assert deleted.stdout.decode() == "g is deleted with 3 pending entries\n"
    assert shell(base_url, "group", "delete", key, "g", "--yes").returncode == 1


def test_a_consumer_with_pending_entries_is_deleted_only_with_a_word_about_them(
    base_url: str, key: str
) -> None:
    shell(base_url, "group", "create", key, "g", "--after", "0")
    take(base_url, key, "g", "alice")
    refused = shell(base_url, "consumer", "delete", key, "g", "alice")
    assert (refused.returncode, b"pending" in refused.stderr) == (1, True)
    handed = shell(base_url, "consumer", "delete", key, "g", "alice", "--transfer-to", "bob")
    assert handed.stdout.decode() == "alice is deleted; 0 pending entries dropped\n"
    dropped = shell(base_url, "consumer", "delete", key, "g", "bob", "--force", "--json")
    assert msgspec.json.decode(dropped.stdout) == {"pending_dropped": 3}
    missing = shell(base_url, "consumer", "delete", key, "g", "bob")
    assert missing.returncode == 1


@pytest.mark.parametrize(
    ("words", "fact", "advice"),
    [
        (["info", "{}"], "the stream '{}' does not exist", "tailrace append KEY FIELD=VALUE"),
        (["ack", "{}", "g", "1-1"], "it has no consumer group 'g'", "tailrace group create KEY GROUP"),
        (["append", "{}", "--id", "0-0", "a=b"], "the id 0-0 is not allowed", "omit --id"),
    ],
)
def test_a_refusal_says_what_to_do_in_words_of_the_command_line(
    base_url: str, words: list[str], fact: str, advice: str
) -> None:
    key = f"cli-groups:{next(_numbers)}"
    refused = shell(base_url, *[word.format(key) for word in words])
    said = refused.stderr.decode()
    assert refused.returncode == 1
    assert fact.format(key) in said
    assert advice in said
    assert not any(word in said for word in ("PUT", "POST", "{", "`id`"))
