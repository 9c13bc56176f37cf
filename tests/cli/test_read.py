"""`tailrace read`: ranges, the last entries, single entries, and new ones, in a pipe and on a terminal."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import httpx
import msgspec
import pytest

from tests.cli.shell import Background, Terminal, shell

_numbers = count()


@pytest.fixture
def key(base_url: str) -> str:
    """A stream of the entries 1-1 to 5-1."""
    name = f"cli-read:{next(_numbers)}"
    for number in range(1, 6):
        body = {"id": f"{number}-1", "fields": {"rider": "Castilla", "lap": str(number)}}
        assert httpx.post(f"{base_url}/v1/streams/{name}/entries", json=body).status_code == 201
    return name


def printed(url: str, *arguments: str) -> list[str]:
    answer = shell(url, "read", *arguments)
    assert (answer.returncode, answer.stderr) == (0, b"")
    return answer.stdout.decode().splitlines()


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        ([], "12345"),
        (["--from", "2", "--to", "3"], "23"),
        (["--from", "(2-1", "--to", "(4-1"], "3"),
        (["-n", "2"], "12"),
        (["--last", "2"], "45"),
        (["--last", "2", "--to", "3-1"], "23"),
        (["-r", "-n", "2"], "54"),
        (["--last", "0"], ""),
        (["--from", "10m"], ""),
    ],
)
def test_a_range_is_chosen_by_ids_times_and_counts(
    base_url: str, key: str, options: list[str], ids: str
) -> None:
    rows = [line.split("\t") for line in printed(base_url, key, *options)]
    assert rows == [[f"{number}-1", "rider=Castilla", f"lap={number}"] for number in ids]


def test_entries_are_chosen_by_id_and_a_missing_one_fails(base_url: str, key: str) -> None:
    assert printed(base_url, key, "4-1", "2-1") == [
        "4-1\trider=Castilla\tlap=4",
        "2-1\trider=Castilla\tlap=2",
    ]
    answer = shell(base_url, "read", key, "4-1", "4-2")
    assert answer.returncode == 1
    assert b"has no entry 4-2" in answer.stderr


def test_json_is_the_servers_object(base_url: str, key: str) -> None:
    entries = httpx.get(f"{base_url}/v1/streams/{key}/entries").json()["entries"]
    assert [msgspec.json.decode(line) for line in printed(base_url, key, "--json")] == entries


def test_a_stream_of_many_pages_is_read_whole_in_both_directions(base_url: str) -> None:
    key = f"cli-read:{next(_numbers)}"
    body = "".join(f'{{"id":"{number}-1","fields":{{"n":"{number}"}}}}\n' for number in range(1, 2_502))
    path = f"/v1/streams/{key}/entries:import?shape=entry"
    headers = {"Content-Type": "application/x-ndjson"}
    httpx.post(base_url + path, content=body, headers=headers).raise_for_status()
    rows = [f"{number}-1\tn={number}" for number in range(1, 2_502)]
    assert printed(base_url, key) == rows
    assert printed(base_url, key, "-r") == rows[::-1]
    assert printed(base_url, key, "--last", "1500") == rows[-1500:]


def test_values_of_any_bytes_stay_in_one_cell(base_url: str) -> None:
    key = f"cli-read:{next(_numbers)}"
    assert shell(base_url, "append", key, "--id", "1-1", b"a=x\ty\n\xff", "b=two words").returncode == 0
    assert printed(base_url, key) == ['1-1\ta="x\\ty\\n\\xff"\tb="two words"']


def test_following_continues_after_the_entries_that_were_printed(base_url: str, key: str) -> None:
    with Background(base_url, "read", key, "--last", "1", "-f") as following:
        assert following.lines(1) == ["5-1\trider=Castilla\tlap=5"]
        shell(base_url, "append", key, "--id", "6-1", "lap=6")
        assert following.lines(1) == ["6-1\tlap=6"]
        assert following.interrupt() == 130


def test_following_a_stream_without_wanted_entries_starts_at_the_bound(base_url: str, key: str) -> None:
    with Background(base_url, "read", key, "--from", "7", "-f") as following:
        shell(base_url, "append", key, "--id", "6-1", "lap=6")
        shell(base_url, "append", key, "--id", "7-0", "lap=7")
        assert following.lines(1) == ["7-0\tlap=7"]


def test_a_terminal_shows_times_and_colours(base_url: str, key: str, tmp_path: Path) -> None:
    with Terminal(base_url, "read", key, "--last", "1", state=tmp_path) as terminal:
        terminal.shown("rider=Castilla lap=5")
        assert b"\x1b[36m5-1\x1b[0m" in terminal.raw
        assert terminal.wait() == 0


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["1-1", "--last", "1"], "leave out the other options"),
        (["--last", "1", "-n", "1"], "exclude each other"),
        (["-f", "-r"], "leave out --to, --count and --reverse"),
        (["--from", "soon"], "--from: 'soon' is not an id"),
    ],
)
def test_options_that_contradict_each_other_are_named(
    base_url: str, options: list[str], complaint: str
) -> None:
    answer = shell(base_url, "read", "cli-read", *options)
    assert answer.returncode == 2
    assert complaint in " ".join(answer.stderr.decode().replace("│", " ").split())


def test_a_stream_that_does_not_exist_is_an_error(base_url: str) -> None:
    answer = shell(base_url, "read", "cli-read:none")
    assert answer.returncode == 1
    assert b"the stream 'cli-read:none' does not exist" in answer.stderr
