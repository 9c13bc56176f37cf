"""Dead letters of a group from the command line: set, filled, sent back."""

from __future__ import annotations

from itertools import count

import httpx
import msgspec
import pytest

from tests.cli.shell import shell

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
