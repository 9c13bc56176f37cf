"""`tailrace tail`: last entries and new ones, through lost connections, and as a consumer of a group."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import httpx
import msgspec
import pytest

from tailrace.app.cli.quantities import first_id
from tailrace.core.stream_id import format_id
from tests.cli.shell import WITHIN_S, Background, environment, shell
from tests.support.cutting_proxy import cutting_proxy
from tests.support.server_process import TAILRACE, ServerProcess, running_server


def add(url: str, stream: str, *ids: str) -> None:
    for entry_id in ids:
        body = {"id": entry_id, "fields": {"rider": "Castilla", "speed": "30.2"}}
        assert httpx.post(f"{url}/v1/streams/{stream}/entries", json=body).status_code == 201


def pending(url: str, stream: str, group: str) -> int:
    count: int = httpx.get(f"{url}/v1/streams/{stream}/groups/{group}/pending:summary").json()["count"]
    return count


def test_the_last_entries_are_printed_in_order(base_url: str) -> None:
    add(base_url, "tail:last", "1-1", "1-2", "1692632086370-0")
    answer = shell(base_url, "tail", "tail:last", "-n", "2", extra={"TZ": "UTC"})
    assert answer.stdout.decode().splitlines() == [
        "-  1-2  rider=Castilla speed=30.2",
        "2023-08-21 15:34:46.370  1692632086370-0  rider=Castilla speed=30.2",
    ]
    assert len(shell(base_url, "tail", "tail:last", "--from", "1-2").stdout.splitlines()) == 2


def test_several_streams_are_merged_by_id_and_a_form_is_filled_in(base_url: str) -> None:
    add(base_url, "tail:merged:a", "1-1", "1-3")
    add(base_url, "tail:merged:b", "1-2")
    answer = shell(base_url, "tail", "tail:merged:*", "--format", "{key} {id} {rider}{missing}")
    assert answer.stdout.decode().splitlines() == [
        "tail:merged:a 1-1 Castilla",
        "tail:merged:b 1-2 Castilla",
        "tail:merged:a 1-3 Castilla",
    ]


def test_json_is_the_servers_entry_and_names_its_stream_among_several(base_url: str) -> None:
    add(base_url, "tail:json:a", "1-1")
    entry = {"id": "1-1", "fields": {"rider": "Castilla", "speed": "30.2"}}
    alone = shell(base_url, "tail", "tail:json:a", "--json").stdout
    among = shell(base_url, "tail", "tail:json:*", "--json").stdout
    assert msgspec.json.decode(alone) == entry
    assert msgspec.json.decode(among) == {"key": "tail:json:a", **entry}


def test_nothing_in_an_entry_reaches_the_terminal_as_a_command(base_url: str) -> None:
    shell(base_url, "cli", "XADD", "tail:evil", "1-1", b"a\x1b[2Jb", b"\xff c")
    assert shell(base_url, "tail", "tail:evil").stdout == b'-  1-1  "a\\x1b[2Jb"="\\xff c"\n'


def test_a_stream_that_is_not_there_is_said(base_url: str) -> None:
    missing = shell(base_url, "tail", "tail:missing")
    unmatched = shell(base_url, "tail", "tail:missing:*")
    assert (missing.returncode, unmatched.returncode) == (1, 1)
    assert b"the stream 'tail:missing' does not exist" in missing.stderr
    assert b"no stream matches 'tail:missing:*'" in unmatched.stderr


def test_it_follows_and_ends_with_ctrl_c(base_url: str) -> None:
    add(base_url, "tail:followed", "1-1")
    with Background(base_url, "tail", "-f", "tail:followed", "--format", "{id}") as tail:
        assert tail.lines(1) == ["1-1"]
        add(base_url, "tail:followed", "1-2", "1-3")
        assert tail.lines(2) == ["1-2", "1-3"]
        assert tail.interrupt() == 130


def test_it_begins_behind_a_time_that_nothing_has_come_since(base_url: str) -> None:
    add(base_url, "tail:since", "1-1")
    with Background(base_url, "tail", "-f", "tail:since", "--from", "5-5", "--format", "{id}") as tail:
        add(base_url, "tail:since", "5-4", "5-5", "5-6")
        assert tail.lines(2) == ["5-5", "5-6"]


def test_a_lost_connection_is_made_again_and_nothing_is_missed_or_printed_twice(
    server: ServerProcess,
) -> None:
    url, stream = server.base_url, "tail:lost"
    add(url, stream, "1-1")
    with (
        cutting_proxy(server.port) as proxy,
        Background(proxy.url, "tail", "-f", stream, "--format", "{id}") as tail,
    ):
        assert tail.lines(1) == ["1-1"]
        for number in range(2, 8):
            proxy.cut_after(300)
            add(url, stream, f"{number}-1", f"{number}-2")
            assert tail.lines(2) == [f"{number}-1", f"{number}-2"]
        assert proxy.cuts


def test_it_goes_on_after_the_server_was_restarted(tmp_path: Path) -> None:
    with running_server(tmp_path) as first:
        port = str(first.port)
        add(first.base_url, "s", "1-1")
        with Background(first.base_url, "tail", "-f", "s", "--format", "{id}") as tail:
            assert tail.lines(1) == ["1-1"]
            add(first.base_url, "s", "1-2")
            assert tail.lines(1) == ["1-2"]
            first.signal(signal.SIGTERM)
            assert first.wait() == 0
            with running_server(tmp_path, "--port", port) as second:
                add(second.base_url, "s", "1-3")
                assert tail.lines(1) == ["1-3"]


def test_what_a_consumer_printed_is_acknowledged(base_url: str) -> None:
    add(base_url, "tail:group", "1-1", "1-2", "1-3")
    shell(base_url, "cli", "XGROUP", "CREATE", "tail:group", "g", "0")
    arguments = ["tail", "tail:group", "--group", "g", "--consumer", "c", "--format", "{id}"]
    assert shell(base_url, *arguments, "-n", "1").stdout == b"1-1\n"
    assert pending(base_url, "tail:group", "g") == 1
    with Background(base_url, *arguments, "-f", "--ack") as tail:
        # First what is pending for it, then what is new.
        assert tail.lines(3) == ["1-1", "1-2", "1-3"]
        while pending(base_url, "tail:group", "g"):
            """It is acknowledged once it is printed."""
        add(base_url, "tail:group", "1-4")
        assert tail.lines(1) == ["1-4"]


def test_a_group_that_is_not_there_ends_it(base_url: str) -> None:
    add(base_url, "tail:no-group", "1-1")
    answer = shell(base_url, "tail", "-f", "tail:no-group", "--group", "g", "--consumer", "c")
    assert answer.returncode == 1
    assert b"(NOGROUP)" in answer.stderr


def test_a_reader_that_goes_away_ends_it_in_silence(base_url: str) -> None:
    add(base_url, "tail:pipe", "1-1", "1-2", "1-3")
    answer = subprocess.run(
        ["bash", "-c", f"{TAILRACE} tail -n 3 tail:pipe | head -1; echo ${{PIPESTATUS[0]}}"],  # noqa: S607
        env=environment(TAILRACE_URL=base_url),
        capture_output=True,
        timeout=WITHIN_S,
        check=True,
    )
    assert answer.stdout.splitlines()[0].endswith(b"rider=Castilla speed=30.2")
    assert answer.stderr == b""


NOW_MS = 1_700_000_000_000


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("-", "0-0"),
        ("5", "5-0"),
        ("5-7", "5-7"),
        ("90s", f"{NOW_MS - 90_000}-0"),
        ("2h", f"{NOW_MS - 7_200_000}-0"),
        ("2023-08-21T15:34:46.370Z", "1692632086370-0"),
        ("2023-08-21T17:34:46.370+02:00", "1692632086370-0"),
    ],
)
def test_a_moment_is_an_id_a_time_or_how_long_ago(text: str, first: str) -> None:
    assert format_id(first_id(text, NOW_MS)) == first


@pytest.mark.parametrize("text", ["", "soon", "10x", "-5", "1-", "0001-01-01T00:00Z"])
def test_a_moment_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not an id|is before 1970"):
        first_id(text, NOW_MS)
