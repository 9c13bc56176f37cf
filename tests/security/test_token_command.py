"""`tailrace token`: its output, the tokens file, and wrong arguments."""

from __future__ import annotations

import json
import re
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tailrace.app.tokens.file import read_entries, read_tokens
from tailrace.app.tokens.usage import usage_path
from tests.support.server_process import tailrace
from tests.support.tokens import id_of, make_token

TOKEN = re.compile(r"tlr_[0-9a-f]{12}_[0-9a-f]{64}\n")


@pytest.fixture
def tokens_file(tmp_path: Path) -> Path:
    return tmp_path / "somewhere" / "tokens.json"


def token(*words: str, file: Path | None = None) -> CompletedProcess[str]:
    where = [] if file is None else ["--tokens-file", str(file)]
    return tailrace("token", *words, *where)


def words_of(text: str) -> str:
    """The text without the frames and line breaks that a terminal's width puts into it."""
    return re.sub(r"[\s│╭╮╰╯─]+", " ", text)


def test_a_new_token_is_all_that_goes_to_standard_output(tokens_file: Path) -> None:
    options = ("ingest", "--scope", "append", "--scope", "read", "--keys", "race:*", "--expires", "30d")
    made = token("create", *options, file=tokens_file)
    assert made.returncode == 0
    assert TOKEN.fullmatch(made.stdout)
    (record,) = read_tokens(tokens_file)
    assert (record.id, record.name) == (id_of(made.stdout), "ingest")
    assert (record.scopes, record.keys) == (("append", "read"), ("race:*",))
    assert record.expires_at_ms == record.created_at_ms + 30 * 86_400_000
    assert record.id in made.stderr
    assert made.stdout.strip() not in made.stderr
    assert tokens_file.stat().st_mode & 0o777 == 0o600


def test_without_a_name_keys_and_time_it_has_its_id_all_keys_and_no_end(tokens_file: Path) -> None:
    made = token("create", "--scope", "consume", file=tokens_file)
    (record,) = read_tokens(tokens_file)
    assert (record.name, record.keys, record.expires_at_ms) == (id_of(made.stdout), ("*",), None)


def test_the_file_is_in_the_data_directory_unless_it_is_named(tmp_path: Path) -> None:
    assert token("create", "--scope", "read", "--data-dir", str(tmp_path / "data")).returncode == 0
    assert len(read_tokens(tmp_path / "data" / "tokens.json")) == 1
    environment = {"TAILRACE_TOKENS_FILE": str(tmp_path / "named.json")}
    assert tailrace("token", "create", "--scope", "read", environment=environment).returncode == 0
    assert len(read_tokens(tmp_path / "named.json")) == 1


def test_tokens_are_listed_with_what_they_allow_and_nothing_of_their_text(tokens_file: Path) -> None:
    text = make_token(tokens_file, "read", "admin", keys=("race:*", "boat:*"), name="ops")
    make_token(tokens_file, "read", name="old", expires_in_ms=-1)
    usage_path(tokens_file).write_text(json.dumps({id_of(text): 1_692_632_147_973}))
    listed = token("list", file=tokens_file)
    lines = listed.stdout.splitlines()
    assert lines[0].split() == ["id", "name", "scopes", "keys", "created", "expires", "last", "used"]
    assert lines[1].startswith(f"{id_of(text)}  ops   admin read  race:* boat:*  ")
    assert lines[1].split()[-2:] == ["never", "2023-08-21T15:35Z"]
    assert "(expired)" in lines[2]
    as_json = token("list", "--json", file=tokens_file).stdout
    rows = json.loads(as_json)
    assert [row["last_used_at_ms"] for row in rows] == [1_692_632_147_973, None]
    assert "sha256" not in as_json
    assert text.split("_")[2] not in listed.stdout + as_json


def test_tokens_are_revoked_by_id_and_by_a_name_that_is_one_token_s(tokens_file: Path) -> None:
    first = make_token(tokens_file, "read", name="ops")
    second = make_token(tokens_file, "read", name="ingest")
    third = make_token(tokens_file, "read", name="other")
    revoked = token("revoke", id_of(first), "ingest", file=tokens_file)
    assert revoked.stdout == f"revoked {id_of(first)} (ops)\nrevoked {id_of(second)} (ingest)\n"
    assert [record.id for record in read_tokens(tokens_file)] == [id_of(third)]


@pytest.mark.parametrize(
    ("wanted", "complaint", "status"),
    [
        ("nobody", "no token has the id or the name 'nobody'; nothing was revoked", 1),
        ("twice", "2 tokens have the name 'twice'", 1),
        ("tlr_000000000000_" + "0" * 64, "this is a token", 2),
    ],
)
def test_where_one_cannot_be_revoked_none_is(
    tokens_file: Path, wanted: str, complaint: str, status: int
) -> None:
    known = make_token(tokens_file, "read")
    for _ in range(2):
        make_token(tokens_file, "read", name="twice")
    before = read_tokens(tokens_file)
    refused = token("revoke", id_of(known), wanted, file=tokens_file)
    assert (refused.returncode, refused.stdout) == (status, "")
    assert complaint in words_of(refused.stderr)
    assert wanted[17:] not in refused.stderr or not wanted.startswith("tlr_")
    assert read_tokens(tokens_file) == before


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ([], "Missing option '--scope'"),
        (["--scope", "root"], "'root' is not one of 'read', 'append', 'consume', 'admin'"),
        (["--scope", "read", "--expires", "soon"], "a time is a number followed by s, m, h, d or w"),
        (["--scope", "read", "--expires", "0d"], "a time is a number followed by s, m, h, d or w"),
        (["a b", "--scope", "read"], "a name has 1 to 64 of"),
        (["tlr_0_0", "--scope", "read"], "this is a token, not a name"),
        (["", "--scope", "read"], "a name has 1 to 64 of"),
        (["a\nb", "--scope", "read"], "a name has 1 to 64 of"),
        (["x" * 10_000, "--scope", "read"], "a name has 1 to 64 of"),
        (["--scope", ""], "'' is not one of 'read', 'append', 'consume', 'admin'"),
        (["--scope", "read", "--keys", ""], "a key pattern is empty: '*' matches all keys"),
        (["--scope", "read", "--keys", "race:*", "--keys", ""], "a key pattern is empty"),
        (["--scope", "read", "--keys", "x" * 1025], "a key pattern has 1025 bytes: 1024 are allowed"),
        (["--scope", "read", "--keys", "\udcff"], "a key pattern is not UTF-8"),
        (["--scope", "read", "--expires", ""], "a time is a number followed by s, m, h, d or w"),
        (["--scope", "read", "--expires=-5d"], "a time is a number followed by s, m, h, d or w"),
        (["--scope", "read", "--expires", "2020-01-01"], "a time is a number followed by s, m, h, d or w"),
        (["--scope", "read", "--expires", "999999w"], "the longest time is 36500d (100 years)"),
    ],
)
def test_a_wrong_argument_makes_no_token(tokens_file: Path, options: list[str], complaint: str) -> None:
    refused = token("create", *options, file=tokens_file)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert complaint in words_of(refused.stderr)
    assert not tokens_file.exists()


@pytest.mark.parametrize("command", [["list"], ["revoke", "x"], ["create", "--scope", "read"]])
def test_a_damaged_file_is_one_line_and_left_alone(tokens_file: Path, command: list[str]) -> None:
    tokens_file.parent.mkdir()
    tokens_file.write_bytes(b"{")
    refused = token(*command, file=tokens_file)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.startswith(f"tailrace: {tokens_file} is not a tokens file: ")
    assert tokens_file.read_bytes() == b"{"


@pytest.mark.parametrize("command", [["list"], ["revoke", "x"]])
def test_a_missing_file_is_one_line_and_not_made(tokens_file: Path, command: list[str]) -> None:
    refused = token(*command, file=tokens_file)
    told = f"tailrace: cannot use the tokens file {tokens_file}: no such file or directory\n"
    assert (refused.returncode, refused.stderr) == (1, told)
    assert not tokens_file.parent.exists()


def test_a_damaged_entry_is_listed_with_its_reason_and_can_be_revoked(tokens_file: Path) -> None:
    damaged = make_token(tokens_file, "read", name="broken")
    good = make_token(tokens_file, "read", name="good")
    content = tokens_file.read_bytes().replace(b'"keys":["*"]', b'"keys":[""]', 1)
    tokens_file.write_bytes(content.replace(b'{"version":1,"tokens":[', b'{"version":1,"tokens":["\\u0007",'))
    listed = token("list", file=tokens_file)
    assert listed.returncode == 0
    assert [line.split()[0] for line in listed.stdout.splitlines()] == ["id", id_of(good)]
    first, second = listed.stderr.splitlines()
    assert first.startswith("tailrace: ignored entry-1 (): Expected `object`, got `str`; to remove it: ")
    assert second.startswith(f"tailrace: ignored {id_of(damaged)} (broken): a key pattern is empty")
    assert second.endswith(f"tailrace token revoke {id_of(damaged)}")
    rows = json.loads(token("list", "--json", file=tokens_file).stdout)
    assert [("ignored" in row, row["id"]) for row in rows] == [
        (True, "entry-1"),
        (True, id_of(damaged)),
        (False, id_of(good)),
    ]
    made = token("create", "--scope", "read", file=tokens_file)
    assert made.returncode == 0
    revoked = token("revoke", "entry-1", "broken", file=tokens_file)
    assert revoked.stdout == f"revoked entry-1 ()\nrevoked {id_of(damaged)} (broken)\n"
    assert [entry.id for entry in read_entries(tokens_file)] == [id_of(good), id_of(made.stdout)]


def test_an_id_is_revoked_with_every_entry_that_has_it(tokens_file: Path) -> None:
    text = make_token(tokens_file, "read", name="gate")
    content = tokens_file.read_bytes()
    one = content[content.index(b"[") + 1 : content.rindex(b"]")]
    tokens_file.write_bytes(content.replace(one, one + b"," + one))
    assert token("revoke", id_of(text), file=tokens_file).returncode == 0
    assert read_entries(tokens_file) == ()


def test_a_pattern_is_listed_in_one_line(tokens_file: Path) -> None:
    make_token(tokens_file, "read", keys=("race\nboat",))
    listed = token("list", file=tokens_file)
    assert "race\\nboat" in listed.stdout
    assert len(listed.stdout.splitlines()) == 2
