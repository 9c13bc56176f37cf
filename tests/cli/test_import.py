"""`tailrace import`: it appends every row once and in order, after any interruption, and reports the place of
an invalid row."""

from __future__ import annotations

import csv
import gzip
import io
import random
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
import zstandard

from tests.cli.shell import WITHIN_S, environment, shell
from tests.support.cutting_proxy import cutting_proxy
from tests.support.server_process import TAILRACE, ServerProcess

Rows = Sequence[Mapping[str, str]]

ROWS: Rows = [
    {"rider": "Castilla", "note": 'says "hi", twice'},
    {"rider": "Norem", "note": "two\r\nlines"},
    {"rider": "Prickett", "note": ""},
    {"rider": "Åsa", "note": "29,7"},
]


def ndjson(rows: Rows) -> bytes:
    return b"".join(msgspec.json.encode(row) + b"\n" for row in rows)


def csv_of(rows: Rows) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def numbered(count: int, first: int = 0) -> Rows:
    return [{"n": str(number)} for number in range(first, first + count)]


def held(url: str, stream: str) -> list[dict[str, str]]:
    """The fields of all entries."""
    answer = httpx.get(f"{url}/v1/streams/{stream}/entries")
    fields = [entry["fields"] for entry in answer.json()["entries"]]
    assert answer.json()["next"] is None
    return fields


def entries(url: str, stream: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = httpx.get(f"{url}/v1/streams/{stream}/entries").json()["entries"]
    return found


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("rows.ndjson", ndjson(ROWS)),
        ("rows.jsonl.gz", gzip.compress(ndjson(ROWS)[:50]) + gzip.compress(ndjson(ROWS)[50:])),
        ("rows.ndjson.zst", zstandard.compress(ndjson(ROWS)[:50]) + zstandard.compress(ndjson(ROWS)[50:])),
        ("blank lines.ndjson", b"\n\n" + ndjson(ROWS).replace(b"}\n{", b"}\n \n{")),
        ("no line end.ndjson", ndjson(ROWS).rstrip()),
        ("rows.csv", csv_of(ROWS)),
        ("byte order mark.CSV", b"\xef\xbb\xbf" + csv_of(ROWS)),
        ("rows.csv.gz", gzip.compress(csv_of(ROWS))),
        ("rows.csv.zst", zstandard.compress(csv_of(ROWS))),
    ],
)
@pytest.mark.parametrize("chunk", ["1", "3", "10000"])
def test_each_row_is_an_entry_with_its_fields(
    base_url: str, tmp_path: Path, name: str, content: bytes, chunk: str
) -> None:
    (tmp_path / name).write_bytes(content)
    stream = f"import:{name.replace(' ', '-')}:{chunk}"
    answer = shell(base_url, "import", str(tmp_path / name), "--stream", stream, "--chunk", chunk)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.startswith(f"{stream}: 4 rows, ".encode())
    assert held(base_url, stream) == ROWS


def test_standard_input_is_read_and_columns_are_chosen(base_url: str) -> None:
    arguments = ["--stream", "import:stdin", "--format", "csv", "--columns", "note,rider"]
    assert shell(base_url, "import", "-", *arguments, stdin=csv_of(ROWS)).returncode == 0
    assert [list(fields) for fields in held(base_url, "import:stdin")] == [["note", "rider"]] * 4


def test_entries_bring_their_ids_from_ndjson_and_from_csv(base_url: str, tmp_path: Path) -> None:
    lines = b'{"id":"5-1","fields":{"a":"b"}}\n{"id":"5-2","pairs":[["a","b"],["a","c"]]}\n'
    (tmp_path / "a.ndjson").write_bytes(lines)
    (tmp_path / "a.csv").write_bytes(b"id,a\n5-1,b\n7-0,c\n")
    assert shell(base_url, "import", str(tmp_path / "a.ndjson"), "--stream", "import:ids").returncode == 0
    arguments = ["--stream", "import:csv-ids", "--id-column", "id"]
    assert shell(base_url, "import", str(tmp_path / "a.csv"), *arguments).returncode == 0
    assert entries(base_url, "import:ids")[1] == {"id": "5-2", "pairs": [["a", "b"], ["a", "c"]]}
    assert entries(base_url, "import:csv-ids") == [
        {"id": "5-1", "fields": {"a": "b"}},
        {"id": "7-0", "fields": {"a": "c"}},
    ]


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [
        ("a.ndjson", b'{"a":"1"}\n{"a":"2"}\n{"a":"3"}\n{"a":4}\n', "line 4, column a: "),
        (
            "b.ndjson",
            b'{"a":"1"}\n{"a":"2"}\n{"a":"3"}\n{"a":\n',
            "line 4: the text ends too early",
        ),
        ("c.csv", b'a,b\n1,2\n3,4\n"5\n",6\n7\n', "line 6, column 2: the row has 1 columns, the header 2"),
        ("d.csv", b"a,b\n1,2\n3,4\n5,6\n7,\xff\n", "line 5, column 2 (b): not UTF-8"),
        ("e.csv", b'a,b\n1,2\n3,4\n5,6\n7,"x"y\n', "line 5: "),
        ("f.csv", b'a,b\n1,2\n3,4\n5,6\n7,"x\n', "unexpected end of data"),
    ],
)
def test_a_row_that_does_not_fit_is_named_and_nothing_of_its_chunk_is_appended(
    base_url: str, tmp_path: Path, name: str, content: bytes, place: str
) -> None:
    path, stream = tmp_path / name, f"import:bad:{name}"
    path.write_bytes(content)
    answer = shell(base_url, "import", str(path), "--stream", stream, "--chunk", "2")
    assert answer.returncode == 1
    assert f"tailrace: {path}, " in answer.stderr.decode()
    assert place in answer.stderr.decode()
    assert len(held(base_url, stream)) == 2


def test_a_corrected_file_goes_on_behind_the_rows_that_are_there(base_url: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    arguments = ["import", str(path), "--stream", "import:corrected", "--chunk", "2"]
    path.write_bytes(b"n\n0\n1\n2,3\n")
    assert shell(base_url, *arguments).returncode == 1
    path.write_bytes(b"n\n0\n1\n2\n3\n")
    refused = shell(base_url, *arguments)
    assert refused.returncode == 1
    assert b"stopped after 2 rows: continue it with --resume" in refused.stderr
    assert shell(base_url, *arguments, "--resume").returncode == 0
    assert held(base_url, "import:corrected") == numbered(4)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "has no header row"),
        (b"a,a\n1,2\n", "line 1, column 2: the name 'a' is repeated"),
        (b"a,b\n1,2\n", "has no column 'id'; it has a, b"),
        (b"id,b\n1,2\n", "line 2, column 1 (id): '1' is not a complete entry id"),
    ],
)
def test_a_csv_file_that_cannot_be_meant_is_refused(
    base_url: str, tmp_path: Path, content: bytes, complaint: str
) -> None:
    (tmp_path / "a.csv").write_bytes(content)
    arguments = ["--stream", "import:refused", "--id-column", "id"]
    answer = shell(base_url, "import", str(tmp_path / "a.csv"), *arguments)
    assert answer.returncode == 1
    assert complaint in answer.stderr.decode()
    assert held(base_url, "import:refused") == []


@pytest.mark.parametrize("suffix", ["gz", "zst"])
def test_a_compressed_file_that_is_cut_off_is_an_error(base_url: str, tmp_path: Path, suffix: str) -> None:
    content = ndjson(numbered(500))
    whole = gzip.compress(content) if suffix == "gz" else zstandard.compress(content)
    path = tmp_path / f"rows.ndjson.{suffix}"
    path.write_bytes(whole[:-20])
    answer = shell(base_url, "import", str(path), "--stream", f"import:cut:{suffix}")
    assert answer.returncode == 1
    assert answer.stderr.startswith(f"tailrace: cannot read {path}: ".encode())


# --- cut and continued -----------------------------------------------------------------------------


def test_a_lost_answer_doubles_nothing(server: ServerProcess, tmp_path: Path) -> None:
    path = tmp_path / "rows.ndjson"
    path.write_bytes(ndjson(numbered(100)))
    with cutting_proxy(server.port) as proxy:
        proxy.cut_after(0, 1500, 10)
        answer = shell(proxy.url, "import", str(path), "--stream", "import:lost", "--chunk", "10")
        assert proxy.cuts == 3
    assert answer.returncode == 0, answer.stderr
    assert held(server.base_url, "import:lost") == numbered(100)


def test_a_lost_answer_doubles_nothing_where_rows_bring_their_ids(
    server: ServerProcess, tmp_path: Path
) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(b"id,n\n" + b"".join(b"%d-0,%d\n" % (number + 1, number) for number in range(100)))
    arguments = ["--stream", "import:lost-ids", "--chunk", "10", "--id-column", "id"]
    with cutting_proxy(server.port) as proxy:
        proxy.cut_after(0, 1500, 10)
        answer = shell(proxy.url, "import", str(path), *arguments)
        assert proxy.cuts == 3
    assert answer.returncode == 0, answer.stderr
    assert held(server.base_url, "import:lost-ids") == numbered(100)


@pytest.mark.parametrize("name", ["rows.ndjson", "rows.csv.zst"])
def test_an_import_killed_at_any_moment_and_continued_doubles_and_loses_nothing(
    base_url: str, tmp_path: Path, name: str
) -> None:
    seed = random.randrange(1 << 32)
    chance, rows, stream = random.Random(seed), numbered(20_000), f"import:killed:{name}"
    content = ndjson(rows) if name == "rows.ndjson" else zstandard.compress(csv_of(rows))
    path = tmp_path / name
    path.write_bytes(content)
    command = ["import", str(path), "--stream", stream, "--chunk", "100", "--resume"]
    for part in (1, 2, 3, 4):
        _kill_once_beyond(base_url, command, stream, len(rows) * part // 5 - chance.randrange(2_000))
    answer = shell(base_url, *command)
    assert answer.returncode == 0, f"seed {seed}: {answer.stderr.decode()}"
    assert held(base_url, stream) == rows, f"seed {seed}"


def _kill_once_beyond(url: str, command: Sequence[str], stream: str, length: int) -> None:
    """Start the command, and kill it with SIGKILL once the stream has more than `length` entries."""
    process = subprocess.Popen(
        [TAILRACE, *command],
        env=environment(TAILRACE_URL=url),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    while process.poll() is None:
        answer = httpx.get(f"{url}/v1/streams/{stream}/length")
        if answer.json().get("length", 0) > length:
            process.send_signal(signal.SIGKILL)
            break
    _, told = process.communicate(timeout=WITHIN_S)
    assert process.returncode in {-signal.SIGKILL, 0}, told


def test_killed_between_the_commit_and_the_state_it_appends_nothing_twice(
    server: ServerProcess, tmp_path: Path
) -> None:
    path, state = tmp_path / "rows.ndjson", tmp_path / "state"
    path.write_bytes(ndjson(numbered(30)))
    with cutting_proxy(server.port) as proxy:
        command = ["import", str(path), "--stream", "import:between", "--chunk", "30", "--state", str(state)]
        # Each try is carried out and its answer lost, to the last: no state can tell that the rows are there.
        proxy.cut_after(*[0] * 100)
        given_up = shell(proxy.url, *command)
        assert given_up.returncode == 1
        proxy.cut_no_more()
        assert msgspec.json.decode(state.read_bytes())["chunks"] == 0
        assert len(held(server.base_url, "import:between")) == 30
        assert shell(proxy.url, *command, "--resume").returncode == 0
    assert held(server.base_url, "import:between") == numbered(30)


def test_a_finished_import_continues_with_what_the_file_has_grown_by(base_url: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.ndjson"
    command = ["import", str(path), "--stream", "import:grown", "--resume"]
    path.write_bytes(ndjson(numbered(5)))
    assert shell(base_url, *command).returncode == 0
    assert shell(base_url, *command).returncode == 0
    assert len(held(base_url, "import:grown")) == 5
    with path.open("ab") as file:
        file.write(ndjson(numbered(3, first=5)))
    assert shell(base_url, *command).returncode == 0
    assert held(base_url, "import:grown") == numbered(8)


def test_another_file_and_another_plan_are_not_continued(base_url: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.ndjson"
    command = ["import", str(path), "--stream", "import:other"]
    path.write_bytes(ndjson(numbered(5)))
    assert shell(base_url, *command).returncode == 0
    other_plan = shell(base_url, *command, "--resume", "--chunk", "7")
    assert b"began with other settings: chunk was 10000, now it is 7" in other_plan.stderr
    path.write_bytes(ndjson(numbered(9, first=1)))
    other_file = shell(base_url, *command, "--resume")
    assert b"does not begin with the 5 lines that were imported before" in other_file.stderr
    assert len(held(base_url, "import:other")) == 5


def test_a_place_for_the_state_that_cannot_be_written_is_said_before_anything_is_appended(
    base_url: str, tmp_path: Path
) -> None:
    (tmp_path / "rows.ndjson").write_bytes(ndjson(ROWS))
    state = tmp_path / "missing" / "state"
    arguments = ["--stream", "import:no-state", "--state", str(state)]
    answer = shell(base_url, "import", str(tmp_path / "rows.ndjson"), *arguments)
    assert answer.returncode == 1
    assert f"cannot write the state file {state}: no such file or directory".encode() in answer.stderr
    assert held(base_url, "import:no-state") == []
