"""Delays from the command line: append later, list, cancel, nack with a delay, and the backoff of a group."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import httpx
import msgspec
import pytest

from tests.cli.shell import shell

_numbers = count()


@pytest.fixture
def key() -> str:
    return f"cli-delay:{next(_numbers)}"


def test_an_entry_is_scheduled_listed_and_cancelled(base_url: str, key: str) -> None:
    scheduled_id = shell(base_url, "append", key, "--delay", "1h", "rider=Castilla").stdout.decode().strip()
    rows = [line.split("\t") for line in shell(base_url, "scheduled", key).stdout.decode().splitlines()]
    assert rows[0][0] == scheduled_id
    assert rows[0][2] == '{"rider":"Castilla"}'
    listed = [
        msgspec.json.decode(line) for line in shell(base_url, "scheduled", key, "--json").stdout.splitlines()
    ]
    assert listed[0]["scheduled_id"] == scheduled_id
    cancelled = shell(base_url, "scheduled", key, "--cancel", scheduled_id)
    assert (cancelled.returncode, cancelled.stdout) == (0, b"1 cancelled\n")
    again = shell(base_url, "scheduled", key, "--cancel", scheduled_id)
    assert (again.returncode, again.stdout) == (1, b"0 cancelled\n")
    assert scheduled_id in again.stderr.decode()


def test_a_time_is_in_the_zone_of_its_offset_and_one_that_is_too_far_away_is_refused(
    base_url: str, key: str
) -> None:
    tomorrow = datetime.now(UTC).replace(microsecond=0) + timedelta(days=1)
    words = ("append", key, "--at", tomorrow.isoformat(), "rider=Norem", "--json")
    reply = msgspec.json.decode(shell(base_url, *words).stdout)
    assert reply["deliver_at_ms"] == int(tomorrow.timestamp() * 1000)
    for option, value in (("--at", "2999-01-31T08:00:00"), ("--delay", "367d")):
        far = shell(base_url, "append", key, option, value, "rider=Norem")
        assert far.returncode == 2
        assert f"'{value}' is more than 366 days away" in far.stderr.decode()


def test_a_nack_delays_an_entry_and_a_group_has_a_backoff(base_url: str, key: str) -> None:
    group = f"{base_url}/v1/streams/{key}/groups/g"
    httpx.put(group, json={"after": "0", "create_stream": True})
    value = shell(base_url, "append", key, "n=1").stdout.decode().strip()
    httpx.post(f"{base_url}/v1/read-group", json={"group": "g", "consumer": "a", "streams": [{"key": key}]})
    assert shell(base_url, "nack", key, "g", value, "--delay", "1h").stdout == b"1 nacked\n"
    [item] = httpx.get(f"{group}/pending").json()["pending"]
    assert item["claimable_at_ms"] > 0
    options = ("--backoff", "1s", "--backoff-factor", "3", "--backoff-max", "10m")
    state: Any = msgspec.json.decode(shell(base_url, "configure", key, "g", *options).stdout)
    assert state["backoff"] == {"initial_ms": 1_000, "factor": 3.0, "max_ms": 600_000}
    assert b"backoff" not in shell(base_url, "configure", key, "g", "--remove").stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["append", "--delay", "soon", "n=1"], "10s"),
        (["append", "--at", "tomorrow", "n=1"], "--at"),
        (["configure", "g", "--backoff-max", "10m"], "--backoff"),
        (["configure", "g", "--backoff", "0s"], "30m"),
    ],
)
def test_wrong_arguments_are_refused_with_an_example(
    base_url: str, key: str, arguments: list[str], words: str
) -> None:
    command, *rest = arguments
    answer = shell(base_url, command, key, *rest)
    assert answer.returncode == 2
    assert words in answer.stderr.decode()


def test_a_missing_stream_is_named(base_url: str) -> None:
    answer = shell(base_url, "scheduled", "missing")
    assert answer.returncode == 1
    assert "missing" in answer.stderr.decode()
