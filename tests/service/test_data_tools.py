"""`tailrace check`, `backup` and `restore` as commands, with and without a running server."""

from __future__ import annotations

import signal
import threading
from http import HTTPStatus
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.server_process import ServerProcess, running_server, tailrace

ENTRIES = 500
HOLDS = f"1 stream, {ENTRIES:,} entries in 5 blocks, 1 group, {ENTRIES} pending entries"


def fill(server: ServerProcess) -> None:
    command(server, "XGROUP", "CREATE", "s", "g", "0", "MKSTREAM")
    lines = b"\n".join(b'{"n":"%d"}' % number for number in range(ENTRIES))
    headers = {"content-type": "application/x-ndjson"}
    answer = httpx.post(f"{server.base_url}/v1/streams/s/entries:import", content=lines, headers=headers)
    assert answer.status_code == HTTPStatus.CREATED
    command(server, "XREADGROUP", "GROUP", "g", "alice", "STREAMS", "s", ">")


def command(server: ServerProcess, *words: str) -> Any:
    answer = httpx.post(f"{server.base_url}/v1/command", json=words)
    assert answer.status_code == HTTPStatus.OK, answer.text
    return answer.json()["result"]


def contents(directory: Path) -> dict[str, tuple[bytes, int]]:
    return {each.name: (each.read_bytes(), each.stat().st_mtime_ns) for each in directory.iterdir()}


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data directory of a server that was stopped in good order. Leave it as it is."""
    directory = tmp_path_factory.mktemp("stopped")
    with running_server(directory) as server:
        fill(server)
        server.signal(signal.SIGTERM)
        assert server.wait() == 0
    return directory / "data"


@pytest.fixture
def damaged(stopped: Path, tmp_path: Path) -> Path:
    """A copy with one bit of a block flipped."""
    directory = tmp_path / "damaged"
    directory.mkdir()
    content = bytearray((stopped / "tailrace.db").read_bytes())
    # A block's payload is a frame of zstandard: behind its magic number lies what a flip damages.
    content[content.rindex(b"\x28\xb5\x2f\xfd") + 40] ^= 1
    (directory / "tailrace.db").write_bytes(content)
    return directory


def test_check_says_what_it_found_intact_and_changes_nothing(stopped: Path) -> None:
    before = contents(stopped)
    result = tailrace("check", str(stopped))
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == f"{stopped} is intact: {HOLDS}\n"
    assert contents(stopped) == before


def test_check_reads_what_a_killed_server_left_and_changes_nothing(tmp_path: Path) -> None:
    with running_server(tmp_path) as server:
        fill(server)
        server.kill()
        before = contents(tmp_path / "data")
        result = tailrace("check", str(tmp_path / "data"))
    assert HOLDS in result.stdout
    assert contents(tmp_path / "data") == before


def test_check_reads_a_directory_that_a_server_uses_and_says_so(tmp_path: Path) -> None:
    with running_server(tmp_path) as server:
        fill(server)
        result = tailrace("check", str(tmp_path / "data"))
        assert result.returncode == 0
        assert result.stdout.endswith("(a server uses the directory; this is its state at one instant)\n")
        assert command(server, "XLEN", "s") == ENTRIES


def test_check_names_what_is_damaged_with_status_one(damaged: Path) -> None:
    result = tailrace("check", str(damaged))
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith(f"tailrace: {damaged} is damaged: block ")
    assert result.stderr.endswith(": the checksum does not match\n")


def test_check_of_what_is_no_data_directory_says_so(tmp_path: Path) -> None:
    for missing in (tmp_path, tmp_path / "nowhere"):
        result = tailrace("check", str(missing))
        assert result.returncode == 1
        assert result.stderr == f"tailrace: {missing} holds no data: there is no file tailrace.db in it\n"


def test_salvage_writes_what_is_intact_to_a_new_directory_and_lists_what_is_lost(
    damaged: Path, tmp_path: Path
) -> None:
    before = contents(damaged)
    target = tmp_path / "rescued"
    result = tailrace("check", "--salvage", str(target), str(damaged))
    assert result.returncode == 1
    first, *losses = result.stdout.splitlines()
    assert first.startswith(f"{target} has all intact data of {damaged}: 1 stream, 400 entries")
    assert len(losses) == 1
    assert losses[0].startswith("lost: stream 1: 100 entries from ")
    assert contents(damaged) == before
    assert tailrace("check", str(target)).returncode == 0


def test_salvage_of_what_is_intact_loses_nothing(stopped: Path, tmp_path: Path) -> None:
    result = tailrace("check", "--salvage", str(tmp_path / "out"), str(stopped))
    assert result.returncode == 0
    assert result.stdout == f"{tmp_path / 'out'} has all intact data of {stopped}: {HOLDS}\n"


@pytest.mark.parametrize(
    "arguments", [("check", "--salvage", "{out}", "{data}"), ("backup", "{data}", "{out}")]
)
def test_nothing_is_ever_written_over(stopped: Path, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "file").write_text("kept")
    result = tailrace(*(each.format(out=tmp_path, data=stopped) for each in arguments))
    assert result.returncode == 1
    assert result.stderr == (
        f"tailrace: {tmp_path} exists and is not an empty directory: nothing was written\n"
    )
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_a_backup_of_a_running_server_is_whole_and_restores_to_what_it_was(tmp_path: Path) -> None:
    with running_server(tmp_path) as server:
        fill(server)
        result = tailrace("backup", str(tmp_path / "data"), str(tmp_path / "backup"))
        assert result.returncode == 0, result.stderr
        assert f"{tmp_path / 'backup'} is a copy of {tmp_path / 'data'}: {HOLDS}" in result.stdout
        expected = command(server, "XRANGE", "s", "-", "+")
        command(server, "XADD", "s", "*", "after", "the backup")
    place = tmp_path / "restored"
    result = tailrace("restore", str(tmp_path / "backup"), str(place / "data"))
    assert result.returncode == 0, result.stderr
    with running_server(place) as server:
        assert command(server, "XRANGE", "s", "-", "+") == expected
        assert command(server, "XPENDING", "s", "g")[0] == ENTRIES


def test_a_backup_under_load_holds_all_that_was_acknowledged_before_it(tmp_path: Path) -> None:
    stopped = threading.Event()
    acknowledged: list[int] = []

    def load(server: ServerProcess) -> None:
        while not stopped.is_set():
            command(server, "XADD", "load", "*", "n", "x" * 1000)
            acknowledged.append(1)

    with running_server(tmp_path, "--log-level", "warning") as server:
        fill(server)
        loading = threading.Thread(target=load, args=(server,))
        loading.start()
        while len(acknowledged) < 50:
            stopped.wait(0.01)
        before = len(acknowledged)
        result = tailrace("backup", str(tmp_path / "data"), str(tmp_path / "backup"))
        after = len(acknowledged)
        stopped.set()
        loading.join()
    assert result.returncode == 0, result.stderr
    assert after > before, "nothing was appended during the backup"
    with running_server(tmp_path, "--data-dir", str(tmp_path / "backup")) as server:
        assert before <= command(server, "XLEN", "load") <= after + 1


def test_restore_refuses_a_directory_that_holds_something(stopped: Path, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "tailrace.db").write_text("mine")
    result = tailrace("restore", str(stopped), str(tmp_path / "data"))
    assert result.returncode == 1
    assert "is not an empty directory: nothing was written" in result.stderr
    assert (tmp_path / "data" / "tailrace.db").read_text() == "mine"


def test_a_backup_of_what_is_damaged_fails_and_leaves_nothing(damaged: Path, tmp_path: Path) -> None:
    result = tailrace("backup", str(damaged), str(tmp_path / "backup"))
    assert result.returncode == 1
    assert "is damaged: block " in result.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["damaged"]
