"""The commands that show streams and groups and change them, in a pipe and on a terminal."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import httpx
import msgspec
import pytest

from tests.cli.shell import Terminal, shell
from tests.support.server_process import ServerProcess, running_server, tailrace

_numbers = count()


@pytest.fixture
def key(base_url: str) -> str:
    """A stream of four entries; `alice` of the group `judges` has the first three pending."""
    name = f"cli-streams:{next(_numbers)}"
    for number in range(1, 5):
        body = {"id": f"{number}-1", "fields": {"rider": "Castilla"}}
        assert httpx.post(f"{base_url}/v1/streams/{name}/entries", json=body).status_code == 201
    httpx.put(f"{base_url}/v1/streams/{name}/groups/judges", json={"after": "0"})
    read = {"group": "judges", "consumer": "alice", "count": 3, "streams": [{"key": name}]}
    assert httpx.post(f"{base_url}/v1/read-group", json=read).status_code == 200
    return name


def lines(url: str, *arguments: str | bytes) -> list[list[str]]:
    """The cells of a listing in a pipe."""
    answer = shell(url, *arguments)
    assert (answer.returncode, answer.stderr) == (0, b"")
    return [line.split("\t") for line in answer.stdout.decode().splitlines()]


def test_listings_are_separated_by_tabs_in_a_pipe(base_url: str, key: str) -> None:
    assert lines(base_url, "ls", key) == [[key, "4", "4", "1", "4-1"]]
    for pattern in (f"?{key[1:]}", f"*{key}", f"[{key[0]}]{key[1:]}"):
        assert [row[0] for row in lines(base_url, "ls", pattern)] == [key]
    [[*group, unread_ms]] = lines(base_url, "groups", key)
    assert group == ["judges", "1", "3", "1", "3-1"]
    assert unread_ms.isdigit()
    [[consumer, pending, idle_ms, inactive_ms]] = lines(base_url, "consumers", key, "judges")
    assert (consumer, pending) == ("alice", "3")
    assert idle_ms.isdigit()
    assert inactive_ms.isdigit()
    rows = lines(base_url, "pending", key, "judges")
    assert [(row[0], row[1], row[3]) for row in rows] == [(f"{n}-1", "alice", "1") for n in (1, 2, 3)]
    facts = dict(lines(base_url, "info", key))
    assert (facts["stream"], facts["entries"], facts["first id"], facts["last id"]) == (
        key,
        "4",
        "1-1",
        "4-1",
    )


def test_listings_as_json_are_the_objects_of_the_server(base_url: str, key: str) -> None:
    for arguments, path, member in (
        (["groups", key], f"/v1/streams/{key}/groups", "groups"),
        (["ls", key], f"/v1/streams?prefix={key}", "streams"),
    ):
        printed = shell(base_url, *arguments, "--json").stdout.splitlines()
        listed = [msgspec.json.decode(line) for line in printed]
        found = httpx.get(base_url + path).json()[member]
        for each in (*listed, *found):
            each.pop("lag_ms", None)  # it grows
        assert listed == found
    info = msgspec.json.decode(shell(base_url, "info", key, "--json").stdout)
    assert info == httpx.get(f"{base_url}/v1/streams/{key}").json()


def test_pending_entries_can_be_chosen(base_url: str, key: str) -> None:
    assert lines(base_url, "pending", key, "judges", "--consumer", "bob") == []
    assert lines(base_url, "pending", key, "judges", "--min-idle-ms", "3600000") == []
    assert [row[0] for row in lines(base_url, "pending", key, "judges", "-n", "2")] == ["1-1", "2-1"]


def test_a_listing_of_many_pages_is_whole(tmp_path: Path) -> None:
    with running_server(tmp_path, "--durability", "none") as server:
        words = [["XADD", f"many:{number:04}", "1-1", "f", "v"] for number in range(2_100)]
        httpx.post(f"{server.base_url}/v1/command/pipeline", json=words)
        found = [row[0] for row in lines(server.base_url, "ls", "many:")]
        assert found == [f"many:{number:04}" for number in range(2_100)]
        commands = [["XADD", "long", f"{number}-1", "f", "v"] for number in range(1, 2_101)]
        commands += [
            ["XGROUP", "CREATE", "long", "g", "0"],
            ["XREADGROUP", "GROUP", "g", "c", "STREAMS", "long", ">"],
        ]
        httpx.post(f"{server.base_url}/v1/command/pipeline", json=commands)
        assert len(lines(server.base_url, "pending", "long", "g")) == 2_100
        assert len(lines(server.base_url, "pending", "long", "g", "-n", "1500")) == 1_500


def test_names_of_any_bytes_are_shown_as_one_word(base_url: str) -> None:
    key = b"cli-odd:\xff \t\n"
    assert shell(base_url, "append", key, b"f\xff=v\xfe=").returncode == 0
    [[shown, length, *_]] = lines(base_url, "ls", "cli-odd:")
    assert (shown, length) == (r'"cli-odd:\xff \t\n"', "1")
    [[_, pairs]] = httpx.post(
        f"{base_url}/v1/command", json=["XRANGE", {"base64": "Y2xpLW9kZDr/IAkK"}, "-", "+"]
    ).json()["result"]
    assert pairs == [{"base64": "Zv8="}, {"base64": "dv49"}]
    assert shell(base_url, "rm", key, "--yes").returncode == 0


def test_an_appended_entry_keeps_its_fields_in_order(base_url: str) -> None:
    key = "cli-append"
    answer = shell(base_url, "append", key, "--id", "7-7", "b=1", "a=x=y", "c=", "b=2")
    assert (answer.returncode, answer.stdout) == (0, b"7-7\n")
    [entry] = httpx.get(f"{base_url}/v1/streams/{key}/entries").json()["entries"]
    assert entry == {"id": "7-7", "pairs": [["b", "1"], ["a", "x=y"], ["c", ""], ["b", "2"]]}
    refused = shell(base_url, "append", key, "b")
    assert refused.returncode == 2
    assert b"'b' is not FIELD=VALUE" in refused.stderr


def test_pending_entries_are_acknowledged_claimed_and_returned(base_url: str, key: str) -> None:
    assert shell(base_url, "ack", key, "judges", "1-1").stdout == b"1 acknowledged\n"
    again = shell(base_url, "ack", key, "judges", "1-1", "2-1")
    assert (again.returncode, again.stdout) == (1, b"1 acknowledged\n")
    assert again.stderr == b"tailrace: 1 of 2 were not pending\n"
    assert shell(base_url, "claim", key, "judges", "bob", "3-1").stdout == b"3-1\n"
    young = shell(base_url, "claim", key, "judges", "carol", "3-1", "--min-idle-ms", "3600000")
    assert (young.returncode, young.stdout) == (1, b"")
    assert b"claimed 0 of 1" in young.stderr
    assert [row[:2] for row in lines(base_url, "pending", key, "judges")] == [["3-1", "bob"]]
    assert shell(base_url, "nack", key, "judges", "3-1", "--mode", "silent").stdout == b"1 nacked\n"
    assert [row[:2] for row in lines(base_url, "pending", key, "judges")] == [["3-1", "-"]]


def test_what_cannot_be_undone_needs_yes_in_a_pipe(base_url: str, key: str) -> None:
    for arguments in (["trim", key, "--max-length", "1"], ["rm", key]):
        refused = shell(base_url, *arguments)
        assert refused.returncode == 1
        assert b"this cannot be undone, and without a terminal it needs --yes" in refused.stderr
    assert lines(base_url, "ls", key)[0][1] == "4"
    assert shell(base_url, "trim", key, "--min-id", "3-1", "--yes").stdout == b"2 entries removed\n"
    assert shell(base_url, "rm", key, "3-1", "9-9").returncode == 1
    assert lines(base_url, "ls", key)[0][1] == "1"
    assert shell(base_url, "rm", key, "--yes").returncode == 0
    assert lines(base_url, "ls", key) == []


def test_a_terminal_is_asked_and_shows_tables(base_url: str, key: str, tmp_path: Path) -> None:
    with Terminal(base_url, "rm", key, state=tmp_path) as terminal:
        terminal.shown(f"Delete {key} with 4 entries and 1 groups?")
        terminal.type("n\n")
        terminal.shown("nothing was changed")
        assert terminal.wait() == 1
    with Terminal(base_url, "groups", key, state=tmp_path) as terminal:
        assert "last delivered" in terminal.shown("judges")
        assert terminal.wait() == 0


@pytest.mark.parametrize("arguments", [["trim", "s"], ["trim", "s", "--max-length", "1", "--min-id", "1-1"]])
def test_a_trim_has_one_bound(base_url: str, arguments: list[str]) -> None:
    refused = shell(base_url, *arguments)
    assert refused.returncode == 2
    assert b"give either --max-length or --min-id" in refused.stderr


def test_what_does_not_exist_is_named(base_url: str, key: str) -> None:
    for arguments in (["info", "cli-none"], ["groups", "cli-none"], ["rm", "cli-none", "--yes"]):
        missing = shell(base_url, *arguments)
        assert missing.returncode == 1
        assert b"cli-none" in missing.stderr
        assert missing.stderr.startswith(b"tailrace: ")
    assert b"nobody" in shell(base_url, "consumers", key, "nobody").stderr


# --- top --------------------------------------------------------------------------------------------


def test_top_once_shows_the_state_of_groups(base_url: str, key: str) -> None:
    [row] = lines(base_url, "top", key, "--once", "-i", "0.1")
    assert row[0:2] == [key, "0.0"]
    assert row[2:6] == ["4", "1", "1", "3"]
    assert row[6].isdigit()
    sample = msgspec.json.decode(shell(base_url, "top", key, "--json", "-i", "0.1").stdout)
    assert (sample["key"], sample["worst_lag"], sample["pending"]) == (key, 1, 3)


def test_top_is_updated_until_q_is_pressed(base_url: str, key: str, tmp_path: Path) -> None:
    with Terminal(base_url, "top", key, "-i", "0.2", state=tmp_path) as terminal:
        terminal.shown("1 streams")
        terminal.shown("oldest pending")
        terminal.type("q")
        assert terminal.wait() == 0


# --- where the server is ----------------------------------------------------------------------------


def test_a_url_needs_no_scheme(server: ServerProcess, key: str) -> None:
    assert lines(f"127.0.0.1:{server.port}", "ls", key)[0][0] == key


def test_the_variable_of_the_port_moves_the_client_too(server: ServerProcess, key: str) -> None:
    answer = tailrace("ls", key, environment={"TAILRACE_PORT": str(server.port)})
    assert answer.stdout.split("\t")[0] == key


def test_the_variable_of_the_data_directory_serves_check_backup_and_restore(tmp_path: Path) -> None:
    data, copy, again = (str(tmp_path / name) for name in ("data", "copy", "again"))
    with running_server(tmp_path) as server:
        shell(server.base_url, "append", "s", "f=v")
    variable = {"TAILRACE_DATA_DIR": data}
    assert tailrace("check", environment=variable).stdout.startswith(f"{data} is intact")
    assert tailrace("backup", copy, environment=variable).stdout.startswith(f"{copy} is a copy of {data}")
    restored = tailrace("restore", copy, environment={"TAILRACE_DATA_DIR": again})
    assert restored.stdout.startswith(f"{again} is restored from {copy}")
    missing = tailrace("backup", copy)
    assert missing.returncode == 2
    assert "TAILRACE_DATA_DIR" in missing.stderr
    assert list(Path(again).iterdir())


def test_an_error_cannot_control_the_terminal(base_url: str) -> None:
    answer = shell(base_url, "info", b"\x1b[31mred")
    assert answer.returncode == 1
    assert rb"the stream '\x1b[31mred' does not exist" in answer.stderr
