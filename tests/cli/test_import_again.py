"""A second import of the same content asks first; an interrupted import or export says how to continue."""

from __future__ import annotations

import fcntl
import gzip
import os
import struct
import termios
from pathlib import Path

import httpx

from tests.cli.shell import Background, Terminal, shell

ROWS = b'{"rider":"Castilla"}\n{"rider":"Norem"}\n'


def length(url: str, stream: str) -> int:
    return int(httpx.get(f"{url}/v1/streams/{stream}/length").json()["length"])


def test_the_same_content_is_refused_in_a_pipe_until_it_is_wanted_again(
    base_url: str, tmp_path: Path
) -> None:
    stream = "again:pipe"
    (tmp_path / "rows.ndjson").write_bytes(ROWS)
    (tmp_path / "copy.ndjson.gz").write_bytes(gzip.compress(ROWS))
    assert shell(base_url, "import", str(tmp_path / "rows.ndjson"), "--stream", stream).returncode == 0
    for name in ("rows.ndjson", "copy.ndjson.gz"):
        refused = shell(base_url, "import", str(tmp_path / name), "--stream", stream)
        assert refused.returncode == 1
        assert f"begins with the 2 rows that were imported into {stream}".encode() in refused.stderr
        assert b"use --again to append them a second time; nothing was appended" in refused.stderr
    assert length(base_url, stream) == 2
    for name in ("rows.ndjson", "copy.ndjson.gz"):
        assert shell(base_url, "import", str(tmp_path / name), "--stream", stream, "--again").returncode == 0
    assert length(base_url, stream) == 6


def test_a_terminal_is_asked_before_rows_are_appended_a_second_time(base_url: str, tmp_path: Path) -> None:
    path, stream = tmp_path / "rows.ndjson", "again:asked"
    path.write_bytes(ROWS)
    command = ("import", str(path), "--stream", stream)
    # The records are in the user's state directory: the first import has to be the same user's.
    for answer, status, expected in ((None, 0, 2), ("n\n", 1, 2), ("y\n", 0, 4)):
        with Terminal(base_url, *command, state=tmp_path) as terminal:
            if answer is not None:
                terminal.shown("Append them a second time? [y/N]:")
                terminal.type(answer)
            assert terminal.wait() == status
        assert length(base_url, stream) == expected


def test_a_file_that_has_grown_is_noticed_and_another_one_is_not_asked_about(
    base_url: str, tmp_path: Path
) -> None:
    path, stream = tmp_path / "rows.ndjson", "again:grown"
    path.write_bytes(ROWS)
    command = ["import", str(path), "--stream", stream]
    assert shell(base_url, *command).returncode == 0
    path.write_bytes(ROWS + b'{"rider":"Prickett"}\n')
    assert b"begins with the 2 rows" in shell(base_url, *command).stderr
    path.write_bytes(b'{"rider":"Wood"}\n' + ROWS)
    assert shell(base_url, *command).returncode == 0
    assert length(base_url, stream) == 5


def test_another_stream_and_a_stream_that_was_made_again_have_no_imports(
    base_url: str, tmp_path: Path
) -> None:
    path = tmp_path / "rows.ndjson"
    path.write_bytes(ROWS)
    for stream in ("again:one", "again:two"):
        assert shell(base_url, "import", str(path), "--stream", stream).returncode == 0
    assert shell(base_url, "rm", "again:one", "--yes").returncode == 0
    assert shell(base_url, "import", str(path), "--stream", "again:one").returncode == 0
    assert length(base_url, "again:one") == 2


def test_again_starts_an_interrupted_import_from_the_beginning(base_url: str, tmp_path: Path) -> None:
    path, stream = tmp_path / "rows.ndjson", "again:stopped"
    path.write_bytes(ROWS + b"no JSON\n")
    command = ["import", str(path), "--stream", stream, "--chunk", "2"]
    assert shell(base_url, *command).returncode == 1
    path.write_bytes(ROWS)
    assert b"with --again; nothing was appended" in shell(base_url, *command).stderr
    assert shell(base_url, *command, "--again").returncode == 0
    assert length(base_url, stream) == 4
    both = shell(base_url, *command, "--again", "--resume")
    assert both.returncode == 2


def test_an_interrupted_import_names_its_state_and_continues(base_url: str, tmp_path: Path) -> None:
    path, stream, rows = tmp_path / "rows.ndjson", "again:interrupted", 800
    path.write_bytes(b"".join(b'{"n":"%d"}\n' % number for number in range(rows)))
    command = ("import", str(path), "--stream", stream, "--chunk", "1")
    with Background(base_url, *command) as running:
        while length(base_url, stream) < 5:
            """The import has begun."""
        assert running.interrupt() == 130
        summary = running.stdout.read().decode()
        [line] = running.stderr.read().decode().splitlines()
    [state] = tmp_path.glob(".rows.ndjson.import-*")
    assert line == f"tailrace: interrupted, continue with --resume; the progress is in {state}"
    assert summary.startswith(f"{stream}: {length(base_url, stream)} rows, ")
    assert shell(base_url, *command[:-2], "--chunk", "1", "--resume").returncode == 0
    assert length(base_url, stream) == rows


def test_an_interrupted_export_names_its_state(base_url: str, tmp_path: Path) -> None:
    stream, out = "again:export", tmp_path / "out.ndjson"
    body = b"".join(b'{"n":"%s"}\n' % (b"x" * 1_000) for _ in range(500))
    headers = {"Content-Type": "application/x-ndjson"}
    httpx.post(f"{base_url}/v1/streams/{stream}/entries:import", content=body, headers=headers)
    # The export blocks when the pipe is full, because the test does not read from it.
    os.mkfifo(out)
    reader = os.open(out, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with Background(base_url, "export", stream, str(out), "--overwrite") as running:
            while not _readable_bytes(reader):
                """The export has begun to write."""
            assert running.interrupt() == 130
            lines = running.stderr.read().decode().splitlines()
    finally:
        os.close(reader)
    [state] = tmp_path.glob(".out.ndjson.export-*")
    assert lines[0].startswith(f"{stream}: 0 rows, ")
    assert lines[1] == f"tailrace: interrupted, continue with --resume; the progress is in {state}"


def _readable_bytes(descriptor: int) -> int:
    return int(struct.unpack("i", fcntl.ioctl(descriptor, termios.FIONREAD, b"\0" * 4))[0])


def test_a_bar_starts_empty_and_the_summary_has_a_line_of_its_own(base_url: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.ndjson"
    path.write_bytes(ROWS * 200)
    with Terminal(
        base_url, "import", str(path), "--chunk", "1", "--stream", "again:bar", state=tmp_path
    ) as bar:
        first = bar.shown(" rows/s ")
        assert "0.0/7.8 kB 0 rows 0 rows/s" in " ".join(first.split())
        bar.shown("again:bar: 400 rows")
        assert bar.wait() == 0
        [summary] = [line for line in bar.shown("rows/s, ").splitlines() if "again:bar" in line]
        assert summary.lstrip("\r ").startswith("again:bar: 400 rows, ")
