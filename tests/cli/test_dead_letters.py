"""Dead letters of a group from the command line: set, filled, sent back."""

from __future__ import annotations

import threading
from itertools import count
from pathlib import Path

import httpx
import msgspec
import pytest

from tests.cli.shell import shell
from tests.support.server_process import running_server
from tests.support.tokens import ALL_SCOPES, bearer, make_token

_numbers = count()


@pytest.fixture
def key(base_url: str) -> str:
    """A stream whose group `judges` delivers an entry once, with three dead letters."""
    name = f"cli-dead:{next(_numbers)}"
    httpx.put(f"{base_url}/v1/streams/{name}/groups/judges", json={"after": "0", "create_stream": True})
    letters = ("--max-deliveries", "1", "--dead-letter-stream", f"{name}:dead")
    state = msgspec.json.decode(shell(base_url, "configure", name, "judges", *letters).stdout)
    assert (state["max_deliveries"], state["dead_letter_stream"]) == (1, f"{name}:dead")
    ids = [f"{number}-1" for number in range(1, 4)]
    for entry_id in ids:
        body = {"id": entry_id, "fields": {"rider": "Castilla"}}
        httpx.post(f"{base_url}/v1/streams/{name}/entries", json=body)
    read = {"group": "judges", "consumer": "alice", "streams": [{"key": name}]}
    httpx.post(f"{base_url}/v1/read-group", json=read)
    assert shell(base_url, "nack", name, "judges", *ids).stdout == b"3 nacked\n"
    return name


def length(url: str, key: str) -> int:
    found: int = httpx.get(f"{url}/v1/streams/{key}/length").json()["length"]
    return found


@pytest.mark.parametrize("options", [[], ["--per-s", "1000"]])
def test_all_dead_letters_go_back_once(base_url: str, key: str, options: list[str]) -> None:
    answer = shell(base_url, "redrive", key, "judges", *options)
    assert (answer.returncode, answer.stderr) == (0, b"")
    assert len(answer.stdout.splitlines()) == 3
    assert all(len(line.split(b"\t")) == 2 for line in answer.stdout.splitlines())
    assert (length(base_url, f"{key}:dead"), length(base_url, key)) == (0, 6)
    assert shell(base_url, "redrive", key, "judges").stdout == b""


def test_chosen_dead_letters_go_back(base_url: str, key: str) -> None:
    [first, *_] = httpx.get(f"{base_url}/v1/streams/{key}:dead/entries").json()["entries"]
    answer = shell(base_url, "redrive", key, "judges", first["id"], "9-9", "--json")
    assert answer.returncode == 1
    assert msgspec.json.decode(answer.stdout)["id"] == first["id"]
    assert answer.stderr == b"tailrace: 1 of 2 are no dead letters of this group\n"
    assert length(base_url, f"{key}:dead") == 2


def test_the_dead_letters_of_all_groups_of_a_stream_go_back(base_url: str, key: str) -> None:
    body = {"fields": {"rider": "Norem"}}
    httpx.post(f"{base_url}/v1/streams/{key}:dead/entries", json=body)
    answer = shell(base_url, "redrive", f"{key}:dead")
    assert (answer.returncode, answer.stderr) == (0, b"")
    assert len(answer.stdout.splitlines()) == 3
    assert (length(base_url, f"{key}:dead"), length(base_url, key)) == (1, 6), "the other entry stays"
    again = shell(base_url, "redrive", f"{key}:dead")
    assert again.returncode == 1
    assert f"the stream {key}:dead has no dead letters of a group".encode() in again.stderr


@pytest.mark.parametrize(
    "content",
    [
        {"fields": {"cmlkZXI=": "/w=="}, "encoding": "base64"},
        {"pairs": [["rider", "Norem"], ["rider", "Royce"]]},
        {"pairs": [["_source_stream", "other"], ["_group", "other"]]},
    ],
    ids=["bytes", "a name that repeats", "names of dead letters"],
)
def test_dead_letters_of_any_form_go_back(base_url: str, key: str, content: dict[str, object]) -> None:
    shell(base_url, "redrive", f"{key}:dead")
    entry_id = httpx.post(f"{base_url}/v1/streams/{key}/entries", json=content).json()["id"]
    read = {"group": "judges", "consumer": "alice", "streams": [{"key": key}]}
    httpx.post(f"{base_url}/v1/read-group", json=read)
    httpx.post(f"{base_url}/v1/streams/{key}/groups/judges:nack", json={"ids": [entry_id], "mode": "fail"})
    answer = shell(base_url, "redrive", f"{key}:dead")
    assert (answer.returncode, answer.stderr) == (0, b"")
    [line] = answer.stdout.splitlines()
    new_id = line.split(b"\t")[1].decode()
    shape = {"shape": "pairs"} if "pairs" in content else {}
    made = httpx.get(f"{base_url}/v1/streams/{key}/entries/{new_id}", params=shape).json()
    assert {name: made[name] for name in content} == content


def test_a_group_that_is_gone_does_not_stop_the_redrive_of_the_others(base_url: str, key: str) -> None:
    other = f"{key}:other"
    httpx.put(f"{base_url}/v1/streams/{other}/groups/g", json={"after": "0", "create_stream": True})
    settings = {"max_deliveries": 1, "dead_letter_stream": f"{key}:dead"}
    httpx.post(f"{base_url}/v1/streams/{other}/groups/g:configure", json=settings)
    httpx.post(f"{base_url}/v1/streams/{other}/entries", json={"id": "1-1", "fields": {"n": "1"}})
    read = {"group": "g", "consumer": "alice", "streams": [{"key": other}]}
    httpx.post(f"{base_url}/v1/read-group", json=read)
    httpx.post(f"{base_url}/v1/streams/{other}/groups/g:nack", json={"ids": ["1-1"], "mode": "fail"})
    httpx.delete(f"{base_url}/v1/streams/{key}/groups/judges")
    answer = shell(base_url, "redrive", f"{key}:dead")
    assert answer.returncode == 1
    assert len(answer.stdout.splitlines()) == 1
    assert f"some dead letters stay where they are; {key} judges: the stream".encode() in answer.stderr
    assert (length(base_url, other), length(base_url, f"{key}:dead")) == (2, 3)


@pytest.mark.parametrize("named", ["the dead-letter stream", "the group"])
def test_a_redrive_ends_although_each_entry_fails_again(base_url: str, key: str, named: str) -> None:
    """The consumer returns each entry that comes back before the next page is sent."""
    is_ended = threading.Event()

    def fail_all() -> None:
        read = {"group": "judges", "consumer": "alice", "streams": [{"key": key}], "wait_ms": 200}
        with httpx.Client(base_url=f"{base_url}/v1", timeout=60) as client:
            while not is_ended.is_set():
                [found] = client.post("/read-group", json=read).json()["streams"]
                if ids := [entry["id"] for entry in found["entries"]]:
                    client.post(f"/streams/{key}/groups/judges:nack", json={"ids": ids, "mode": "fail"})

    failing = threading.Thread(target=fail_all)
    failing.start()
    try:
        arguments = [f"{key}:dead"] if named == "the dead-letter stream" else [key, "judges"]
        answer = shell(base_url, "redrive", *arguments, "--per-s", "2")
    finally:
        is_ended.set()
        failing.join()
    assert answer.returncode == 0
    assert 3 <= len(answer.stdout.splitlines()) <= 4


def test_a_token_that_cannot_read_redrives_a_group(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens.json"
    admin, all_scopes = make_token(tokens, "admin"), make_token(tokens, *ALL_SCOPES)
    with (
        running_server(tmp_path, "--tokens-file", str(tokens)) as server,
        httpx.Client(base_url=f"{server.base_url}/v1/streams/s", headers=bearer(all_scopes)) as client,
    ):
        client.put("/groups/g", json={"after": "0", "create_stream": True})
        client.post("/groups/g:configure", json={"max_deliveries": 1, "dead_letter_stream": "s:dead"})
        client.post("/entries", json={"id": "1-1", "fields": {"n": "1"}})
        read = {"group": "g", "consumer": "alice", "streams": [{"key": "s"}]}
        client.post(f"{server.base_url}/v1/read-group", json=read)
        client.post("/groups/g:nack", json={"ids": ["1-1"], "mode": "fail"})
        answer = shell(server.base_url, "redrive", "s", "g", extra={"TAILRACE_TOKEN": admin})
    assert (answer.returncode, answer.stderr) == (0, b"")
    assert len(answer.stdout.splitlines()) == 1


def test_a_dead_letter_stream_can_have_any_bytes_in_its_name(base_url: str, key: str) -> None:
    options = ("--max-deliveries", "2", "--dead-letter-stream", b"\xff")
    state = msgspec.json.decode(shell(base_url, "configure", key, "judges", *options).stdout)
    assert (state["dead_letter_stream"], state["encoding"]) == ("/w==", "base64")
    refused = shell(base_url, "configure", key, "judges", "--filter", b"fields.a == '\xff'")
    assert (refused.returncode, refused.stdout) == (1, b"")
    assert b"is not UTF-8; nothing was sent" in refused.stderr


def test_the_settings_can_be_removed(base_url: str, key: str) -> None:
    state = msgspec.json.decode(shell(base_url, "configure", key, "judges", "--remove").stdout)
    assert "max_deliveries" not in state or state["max_deliveries"] is None


@pytest.mark.parametrize("options", [[], ["--remove", "--max-deliveries", "3"]], ids=str)
def test_settings_are_given_or_removed(base_url: str, options: list[str]) -> None:
    refused = shell(base_url, "configure", "s", "g", *options)
    assert refused.returncode == 2
    assert b"give settings, or --remove" in refused.stderr


def test_both_settings_of_dead_letters_belong_together(base_url: str, key: str) -> None:
    shell(base_url, "configure", key, "judges", "--remove")
    refused = shell(base_url, "configure", key, "judges", "--max-deliveries", "3")
    assert refused.returncode == 1
    assert b"max_deliveries without dead_letter_stream" in refused.stderr


def test_leases_are_set_beside_other_settings_and_removed_with_them(base_url: str, key: str) -> None:
    options = ("--claim-min-idle-ms", "60000", "--consumer-expiry-ms", "300000")
    state = msgspec.json.decode(shell(base_url, "configure", key, "judges", *options).stdout)
    names = ("max_deliveries", "claim_min_idle_ms", "consumer_expiry_ms")
    assert [state[name] for name in names] == [1, 60_000, 300_000]
    state = msgspec.json.decode(shell(base_url, "configure", key, "judges", "--remove").stdout)
    assert not {*names} & state.keys()
