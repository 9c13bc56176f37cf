"""Filters on the command line: tail, export, and the filter of a group."""

from __future__ import annotations

from pathlib import Path

import httpx
import msgspec
import pytest

from tests.cli.shell import shell

WANTED = "int(fields.n) > 18 || fields.n == '3'"
FOUND = ["3", "19", "20"]


@pytest.fixture(scope="module")
def key(base_url: str) -> str:
    """A stream of twenty numbers."""
    lines = "\n".join(f'{{"id":"{n}-0","fields":{{"n":"{n}"}}}}' for n in range(1, 21))
    headers = {"Content-Type": "application/x-ndjson"}
    path = f"{base_url}/v1/streams/cli:filters/entries:import?shape=entry"
    assert httpx.post(path, content=lines, headers=headers).status_code == 201
    return "cli:filters"


def printed(base_url: str, key: str, *options: str) -> list[str]:
    answer = shell(base_url, "tail", key, "--format", "{n}", *options)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.decode().split()


def test_tail_prints_the_last_entries_that_match(base_url: str, key: str) -> None:
    assert printed(base_url, key, "--filter", WANTED) == FOUND
    assert printed(base_url, key, "--filter", WANTED, "-n", "2") == FOUND[1:]
    assert printed(base_url, key, "--filter", WANTED, "--from", "4-0") == FOUND[1:]


def test_tail_shows_the_place_of_an_error_and_takes_no_filter_with_a_group(base_url: str, key: str) -> None:
    refused = shell(base_url, "tail", key, "--filter", "fields.n = 1")
    assert refused.returncode == 1
    assert b"at character 10: expected an operator" in refused.stderr
    as_consumer = shell(base_url, "tail", key, "--group", "g", "--consumer", "c", "--filter", "true")
    assert as_consumer.returncode == 2
    assert b"tailrace configure --filter" in as_consumer.stderr


def test_export_writes_the_entries_that_match(base_url: str, key: str, tmp_path: Path) -> None:
    out = tmp_path / "out.ndjson"
    answer = shell(base_url, "export", key, str(out), "--filter", WANTED)
    assert (answer.returncode, answer.stderr.decode().split()[:2]) == (0, [f"{key}:", "3"])
    assert [msgspec.json.decode(line)["fields"]["n"] for line in out.read_bytes().splitlines()] == FOUND
    again = shell(base_url, "export", key, str(out), "--resume", "--filter", "true")
    assert again.returncode == 1
    assert b"filter" in again.stderr


def test_configure_sets_and_removes_the_filter_of_a_group(base_url: str, key: str) -> None:
    httpx.put(f"{base_url}/v1/streams/{key}/groups/g", json={"after": "0"})
    state = msgspec.json.decode(shell(base_url, "configure", key, "g", "--filter", WANTED).stdout)
    assert state["filter"] == WANTED
    read = {"group": "g", "consumer": "c", "streams": [{"key": key}]}
    [stream] = httpx.post(f"{base_url}/v1/read-group", json=read).json()["streams"]
    assert [entry["fields"]["n"] for entry in stream["entries"]] == FOUND
    state = msgspec.json.decode(shell(base_url, "configure", key, "g", "--remove").stdout)
    assert "filter" not in state
