"""What the command line shows of the policies, and leases."""

from __future__ import annotations

from itertools import count
from typing import Any

import httpx
import msgspec
import pytest

from tests.cli.shell import shell
from tests.cli.test_streams import lines

_numbers = count()


@pytest.fixture
def key(base_url: str) -> str:
    """A stream of two entries; `alice` of the group `g` has them pending."""
    name = f"cli-policies:{next(_numbers)}"
    httpx.put(f"{base_url}/v1/streams/{name}/groups/g", json={"after": "0", "create_stream": True})
    for value in ("1-0", "2-0"):
        body = {"id": value, "fields": {"n": "1"}}
        assert httpx.post(f"{base_url}/v1/streams/{name}/entries", json=body).status_code == 201
    read = {"group": "g", "consumer": "alice", "streams": [{"key": name}]}
    assert httpx.post(f"{base_url}/v1/read-group", json=read).status_code == 200
    return name


def test_info_shows_the_retention_of_a_stream_and_its_scheduled_entries(base_url: str, key: str) -> None:
    facts = dict(lines(base_url, "info", key))
    names = ("scheduled", "retention", "removed by it", "protected from it")
    assert [facts[name] for name in names] == ["0", "-", "-", "-"]
    shell(base_url, "append", key, "--delay", "1h", "n=1")
    shell(base_url, "retention", key, "--max-age", "36500d", "--max-length", "9", "--protect-unread")
    facts = dict(lines(base_url, "info", key))
    rules = "max_age_ms=3153600000000 max_length=9 protect_unread"
    assert [facts[name] for name in names] == ["1", rules, "0", "0"]


def test_groups_shows_the_settings_of_one_group(base_url: str, key: str) -> None:
    plain = dict(lines(base_url, "groups", key, "g"))
    assert (plain["group"], plain["pending"], len(plain)) == ("g", "2", 6)
    options = ("--order-by", "n", "--backoff", "1s", "--max-deliveries", "5", "--dead-letter-stream", "a b")
    shell(base_url, "configure", key, "g", *options)
    facts = dict(lines(base_url, "groups", key, "g"))
    assert (facts["order by"], facts["keys in flight"], facts["held"]) == ("n", "1", "0")
    assert facts["backoff"] == "initial_ms=1000 factor=2.0 max_ms=3600000"
    assert (facts["max deliveries"], facts["dead letter stream"]) == ("5", '"a b"')
    missing = shell(base_url, "groups", key, "none")
    assert (missing.returncode, b"NOGROUP" in missing.stderr) == (1, True)


def test_one_setting_can_be_removed(base_url: str, key: str) -> None:
    shell(base_url, "configure", key, "g", "--filter", "has(fields.n)", "--max-lag-ms", "5")
    answer = shell(base_url, "configure", key, "g", "--unset", "filter", "--claim-min-idle-ms", "7")
    state: Any = msgspec.json.decode(answer.stdout)
    assert "filter" not in state
    assert (state["max_lag_ms"], state["claim_min_idle_ms"]) == (5, 7)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--unset", "max-lag-ms", "--max-lag-ms", "5"], "max_lag_ms cannot be set and removed"),
        (["--unset", "filter", "--remove"], "give settings, or --remove, or --unset"),
        (["--unset", "colour"], "max-lag-ms"),
    ],
)
def test_options_that_contradict_each_other_are_refused(
    base_url: str, key: str, options: list[str], words: str
) -> None:
    refused = shell(base_url, "configure", key, "g", *options)
    assert (refused.returncode, words in refused.stderr.decode()) == (2, True)


def test_pending_shows_until_when_an_entry_is_delayed(base_url: str, key: str) -> None:
    assert shell(base_url, "nack", key, "g", "2-0", "--delay", "1h").returncode == 0
    first, second = lines(base_url, "pending", key, "g")
    assert first[-1] == "-"
    assert second[-1].endswith("Z")


def test_a_consumer_extends_its_leases_and_learns_which_it_has_lost(base_url: str, key: str) -> None:
    assert shell(base_url, "extend", key, "g", "alice", "1-0", "2-0").stdout == b"2 extended\n"
    lost = shell(base_url, "extend", key, "g", "alice", "1-0", "7-0")
    assert (lost.returncode, lost.stdout) == (1, b"1 extended\n")
    assert lost.stderr == b"tailrace: alice does not own 7-0\n"
    printed = msgspec.json.decode(shell(base_url, "extend", key, "g", "bob", "1-0", "--json").stdout)
    assert printed == {"extended": [], "lost": ["1-0"]}
