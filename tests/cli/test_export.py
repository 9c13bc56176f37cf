"""`tailrace export`: it writes every entry once in every format, after any interruption, and reports entries
that a format cannot represent."""

from __future__ import annotations

import csv
import gzip
import io
import signal
import subprocess
from pathlib import Path
from typing import Final

import httpx
import msgspec
import pytest
import zstandard

from tests.cli.shell import WITHIN_S, environment, shell
from tests.support.cutting_proxy import cutting_proxy
from tests.support.server_process import TAILRACE, ServerProcess

MANY: Final = 200_000


def append(url: str, stream: str, *lines: str) -> None:
    headers = {"Content-Type": "application/x-ndjson"}
    path = f"{url}/v1/streams/{stream}/entries:import?shape=entry"
    assert httpx.post(path, content="\n".join(lines), headers=headers).status_code == 201


@pytest.fixture(scope="module")
def riders(base_url: str) -> str:
    """A stream of three entries, whose fields differ."""
    append(
        base_url,
        "export:riders",
        '{"id":"1-1","fields":{"rider":"Castilla","note":"says \\"hi\\", twice"}}',
        '{"id":"1-2","fields":{"rider":"Norem","speed":"28.8"}}',
        '{"id":"2-0","fields":{"rider":"Åsa","note":"two\\r\\nlines"}}',
    )
    return "export:riders"


@pytest.fixture(scope="module")
def many(base_url: str) -> str:
    """A stream that takes more than one part."""
    for first in range(0, MANY, 50_000):
        lines = [
            f'{{"id":"1-{n + 1}","fields":{{"n":"{n}","same":"in every entry"}}}}'
            for n in range(first, first + 50_000)
        ]
        append(base_url, "export:many", *lines)
    return "export:many"


def numbers(content: bytes) -> list[str]:
    return [msgspec.json.decode(line)["fields"]["n"] for line in content.splitlines()]


def test_whole_entries_go_out_and_come_back_as_they_were(base_url: str, riders: str, tmp_path: Path) -> None:
    path = tmp_path / "riders.ndjson"
    assert shell(base_url, "export", riders, str(path)).returncode == 0
    assert shell(base_url, "import", str(path), "--stream", "export:copied").returncode == 0
    assert shell(base_url, "export", "export:copied").stdout == path.read_bytes()


def test_fields_alone_are_given_new_ids(base_url: str, riders: str) -> None:
    out = shell(base_url, "export", riders, "--shape", "fields").stdout
    assert [msgspec.json.decode(line)["rider"] for line in out.splitlines()] == ["Castilla", "Norem", "Åsa"]


def test_csv_has_a_column_for_every_field_there_is(base_url: str, riders: str) -> None:
    out = shell(base_url, "export", riders, "--format", "csv").stdout
    assert out.startswith(b"id,rider,note,speed\r\n")
    assert list(csv.DictReader(io.StringIO(out.decode(), newline=""))) == [
        {"id": "1-1", "rider": "Castilla", "note": 'says "hi", twice', "speed": ""},
        {"id": "1-2", "rider": "Norem", "note": "", "speed": "28.8"},
        {"id": "2-0", "rider": "Åsa", "note": "two\r\nlines", "speed": ""},
    ]


def test_csv_has_the_columns_that_were_chosen(base_url: str, riders: str) -> None:
    arguments = ["--format", "csv", "--columns", "speed,rider", "--id-column", "", "--start", "1-2"]
    out = shell(base_url, "export", riders, *arguments).stdout
    assert out == "speed,rider\r\n28.8,Norem\r\n,Åsa\r\n".encode()


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('{"id":"1-1","pairs":[["a","b"],["a","c"]]}', "entry 1-1 repeats the name of a field"),
        (
            '{"id":"1-1","fields":{"YQ==":"/w=="},"encoding":"base64"}',
            "entry 1-1 has bytes that are not UTF-8",
        ),
        ('{"id":"1-1","fields":{"id":"x"}}', "the entries have a field 'id'"),
    ],
)
def test_what_csv_cannot_say_is_refused(base_url: str, line: str, complaint: str) -> None:
    stream = f"export:{abs(hash(complaint))}"
    append(base_url, stream, line)
    answer = shell(base_url, "export", stream, "--format", "csv")
    assert answer.returncode == 1
    assert complaint in answer.stderr.decode()
    assert answer.stdout == b""


@pytest.mark.parametrize(("suffix", "opened"), [(".gz", gzip.decompress), (".zst", None)])
def test_a_suffix_compresses(base_url: str, many: str, tmp_path: Path, suffix: str, opened: object) -> None:
    path = tmp_path / f"many.ndjson{suffix}"
    assert shell(base_url, "export", many, str(path)).returncode == 0
    content = path.read_bytes()
    whole = gzip.decompress(content) if opened else _from_zstd(content)
    assert numbers(whole) == [str(number) for number in range(MANY)]


def _from_zstd(content: bytes) -> bytes:
    with zstandard.ZstdDecompressor().stream_reader(content, read_across_frames=True) as reader:
        return reader.read()


def test_a_broken_connection_is_made_again_behind_the_last_whole_line(
    server: ServerProcess, many: str, tmp_path: Path
) -> None:
    path = tmp_path / "many.ndjson"
    with cutting_proxy(server.port) as proxy:
        proxy.cut_after(1_000_000, 1, 3_000_000)
        answer = shell(proxy.url, "export", many, str(path))
        assert proxy.cuts == 3
    assert answer.returncode == 0, answer.stderr
    assert numbers(path.read_bytes()) == [str(number) for number in range(MANY)]


@pytest.mark.parametrize("suffix", ["", ".zst"])
def test_an_export_that_was_killed_goes_on_where_its_last_part_ended(
    base_url: str, many: str, tmp_path: Path, suffix: str
) -> None:
    path, state = tmp_path / f"many.ndjson{suffix}", tmp_path / "state"
    command = ["export", many, str(path), "--state", str(state), "--resume"]
    process = subprocess.Popen(
        [TAILRACE, *command], env=environment(TAILRACE_URL=base_url), stderr=subprocess.PIPE
    )
    while process.poll() is None and not (state.exists() and b'"rows":0' not in state.read_bytes()):
        """The first part is not written yet."""
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=WITHIN_S)
    with path.open("ab") as file:
        file.write(b"half a par")
    answer = shell(base_url, *command)
    assert answer.returncode == 0, answer.stderr
    content = path.read_bytes()
    assert numbers(_from_zstd(content) if suffix else content) == [str(number) for number in range(MANY)]


def test_a_finished_export_goes_on_with_what_was_appended_since(base_url: str, tmp_path: Path) -> None:
    append(base_url, "export:grows", '{"id":"1-1","fields":{"n":"1"}}')
    command = ["export", "export:grows", str(tmp_path / "out.csv"), "--resume"]
    assert shell(base_url, *command).returncode == 0
    append(base_url, "export:grows", '{"id":"1-2","fields":{"n":"2"}}')
    assert shell(base_url, *command).returncode == 0
    assert (tmp_path / "out.csv").read_bytes() == b"id,n\r\n1-1,1\r\n1-2,2\r\n"
    append(base_url, "export:grows", '{"id":"1-3","fields":{"m":"3"}}')
    refused = shell(base_url, *command)
    assert refused.returncode == 1
    assert b"entry 1-3 has fields without a column in the file: m" in refused.stderr
    assert (tmp_path / "out.csv").read_bytes() == b"id,n\r\n1-1,1\r\n1-2,2\r\n"


def test_a_file_that_is_there_is_not_written_over_unasked(base_url: str, riders: str, tmp_path: Path) -> None:
    path = tmp_path / "riders.ndjson"
    path.write_bytes(b"precious")
    refused = shell(base_url, "export", riders, str(path))
    assert refused.returncode == 1
    assert b"nothing was written" in refused.stderr
    assert path.read_bytes() == b"precious"
    assert shell(base_url, "export", riders, str(path), "--overwrite").returncode == 0
    assert path.read_bytes().count(b"\n") == 3


def test_a_stream_that_is_not_there_is_one_sentence_and_no_file(base_url: str, tmp_path: Path) -> None:
    answer = shell(base_url, "export", "export:missing", str(tmp_path / "out"))
    assert answer.returncode == 1
    assert b"tailrace: the server refused: the stream 'export:missing' does not exist" in answer.stderr
    assert answer.stderr.count(b"\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_goes_away_ends_it_in_silence(base_url: str, many: str) -> None:
    command = f"{TAILRACE} export {many} | head -1"
    answer = subprocess.run(
        ["bash", "-c", command],  # noqa: S607
        env=environment(TAILRACE_URL=base_url),
        capture_output=True,
        timeout=WITHIN_S,
        check=True,
    )
    assert answer.stdout.count(b"\n") == 1
    assert b"Traceback" not in answer.stderr
