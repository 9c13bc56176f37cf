"""What `tailrace migrate` does not do, and what it does only if told: each leaves the target as it was."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from secrets import token_hex

import pytest

from tests.migrate.places import End, Word, migrate, migrated
from tests.support.seeds import some_each_day
from tests.support.server_process import running_server


def one_stream(end: End, key: str, *fields: Word) -> None:
    end.fill([["XADD", key, "5-0", *(fields or ("a", "b"))]])


@pytest.mark.parametrize(
    "present",
    [
        pytest.param([["XADD", "%", "5-0", "a", "other"]], id="other fields"),
        pytest.param([["XADD", "%", "4-0", "a", "b"]], id="an entry that the source lacks"),
        pytest.param([["XADD", "%", "6-0", "a", "b"]], id="a later entry"),
        pytest.param(
            [["XGROUP", "CREATE", "%", "mine", "0", "MKSTREAM"]], id="a group that the source lacks"
        ),
    ],
)
def test_a_stream_that_is_not_a_part_of_the_sources_is_replaced_only_if_told(
    present: list[list[Word]], redis_8: End, another_redis_8: End, tmp_path: Path
) -> None:
    key = f"unrelated:{token_hex(4)}"
    one_stream(redis_8, key)
    another_redis_8.fill([[key if word == "%" else word for word in words] for words in present])
    before = another_redis_8.state(key)
    done = migrate(redis_8, another_redis_8, "--keys", key, directory=tmp_path)
    assert done.returncode == 1
    assert "is not a copy of a part of the source's stream; use --replace to delete it first" in done.stderr
    assert another_redis_8.state(key) == before
    migrated(redis_8, another_redis_8, "--keys", key, "--replace", directory=tmp_path)
    assert another_redis_8.state(key) == redis_8.state(key)


def test_one_stream_in_the_way_stops_all_before_anything_is_written(
    redis_8: End, another_redis_8: End, tmp_path: Path
) -> None:
    for key in ("way:a", "way:b", "way:c"):
        one_stream(redis_8, key)
    one_stream(another_redis_8, "way:b", "x", "y")
    assert migrate(redis_8, another_redis_8, "--keys", "way:*", directory=tmp_path).returncode == 1
    assert another_redis_8.run("EXISTS", "way:a", "way:c") == 0


def test_a_pattern_that_selects_no_stream_is_said(redis_8: End, another_redis_8: End, tmp_path: Path) -> None:
    done = migrate(redis_8, another_redis_8, "--keys", "nothing:*", directory=tmp_path)
    assert "the source has no stream to copy; --keys selects streams by their keys" in done.stderr


def test_a_key_of_another_type_is_never_replaced(redis_8: End, another_redis_8: End, tmp_path: Path) -> None:
    one_stream(redis_8, "typed")
    another_redis_8.fill([["SET", "typed", "text"]])
    done = migrate(redis_8, another_redis_8, "--keys", "typed", "--replace", directory=tmp_path)
    assert done.returncode == 1
    assert "is not a stream: delete or rename it first" in done.stderr
    assert another_redis_8.run("GET", "typed") == b"text"


def test_a_dry_run_tells_what_would_happen_and_writes_nothing(
    redis_8: End, another_redis_8: End, tmp_path: Path
) -> None:
    one_stream(redis_8, "dry:new")
    one_stream(redis_8, "dry:part")
    redis_8.fill([["XADD", "dry:part", "6-0", "a", "b"]])
    one_stream(another_redis_8, "dry:part")
    printed = migrated(redis_8, another_redis_8, "--keys", "dry:*", "--dry-run", directory=tmp_path)
    assert "2 streams, 3 entries" in printed
    assert "dry:new: 1 entry, new" in printed
    assert "dry:part: 2 entries, continues after 1 entry" in printed
    assert another_redis_8.run("EXISTS", "dry:new") == 0
    assert another_redis_8.run("XLEN", "dry:part") == 1
    assert migrated(redis_8, tmp_path / "data", "--keys", "dry:*", "--dry-run", directory=tmp_path)
    assert not list(tmp_path.iterdir())


def test_what_an_older_engine_cannot_hold_is_printed_and_left_out_only_if_told(
    redis_8: End, redis_7: End, tmp_path: Path
) -> None:
    one_stream(redis_8, "loss:new")
    redis_8.fill(
        [
            ["XGROUP", "CREATE", "loss:new", "g", "0"],
            ["XNACK", "loss:new", "g", "SILENT", "IDS", 1, "5-0", "RETRYCOUNT", 3, "FORCE"],
            ["XCFGSET", "loss:new", "IDMP-DURATION", 7],
            ["XADD", "loss:new", "IDMP", "p", "i", "*", "a", "b"],
        ]
    )
    done = migrate(redis_8, redis_7, "--keys", "loss:new", directory=tmp_path)
    assert done.returncode == 1
    for part in ("idmp-duration 7", "1 idempotency keys", "1 pending entries without an owner"):
        assert part in done.stdout
    assert redis_7.run("EXISTS", "loss:new") == 0
    migrated(redis_8, redis_7, "--keys", "loss:new", "--accept-losses", directory=tmp_path)
    ((value, owner, _, deliveries),) = redis_7.run("XPENDING", "loss:new", "g", "-", "+", 10)
    assert (value, owner, deliveries) == (b"5-0", b"tailrace-unowned", 3)
    assert redis_7.run("XRANGE", "loss:new", "-", "+") == redis_8.run("XRANGE", "loss:new", "-", "+")


def test_tailrace_says_what_it_cannot_hold(redis_8: End, tailrace: End, tmp_path: Path) -> None:
    long_name = "tell:" + "k" * 600
    one_stream(redis_8, long_name)
    one_stream(redis_8, "tell:expires")
    redis_8.fill([["EXPIRE", "tell:expires", 1000]])
    done = migrate(redis_8, tailrace, "--keys", "tell:*", directory=tmp_path)
    assert done.returncode == 1
    assert "tell:expires: the time to live: the target's streams do not expire" in done.stdout
    assert "a name has 605 bytes, and the target allows 512" in done.stdout
    migrated(redis_8, tailrace, "--keys", "tell:*", "--accept-losses", directory=tmp_path)
    assert tailrace.state("tell:expires") == redis_8.state("tell:expires")


def test_entries_that_are_too_large_are_named_before_the_first_write_and_can_be_left_out(
    redis_8: End, tailrace: End, tmp_path: Path
) -> None:
    """Binary fields are stored in base64: of 16 MiB, they may take 12."""
    key, binary = "large:entry", b"\xff" * (12 * 2**20 + 1)
    redis_8.fill(
        [
            ["XADD", key, "1-0", "b", binary],
            ["XADD", key, "2-0", "a", "1"],
            ["XGROUP", "CREATE", key, "g", "0"],
            ["XREADGROUP", "GROUP", "g", "c", "STREAMS", key, ">"],
            ["XADD", key, "3-0", "b", binary],
        ]
    )
    for options in (["--dry-run"], []):
        done = migrate(redis_8, tailrace, "--keys", key, *options, directory=tmp_path)
        assert done.returncode == 1
        for value in ("1-0", "3-0"):
            assert f"{key}: the entry {value}: an entry may take 16777216 bytes at most" in done.stdout
    assert not tailrace.run("EXISTS", key)
    migrated(redis_8, tailrace, "--keys", key, "--accept-losses", directory=tmp_path)
    assert tailrace.run("XRANGE", key, "-", "+") == [[b"2-0", [b"a", b"1"]]]
    assert tailrace.run("XPENDING", key, "g") == redis_8.run("XPENDING", key, "g")
    done = migrate(redis_8, tailrace, "--keys", key, "--verify-only", directory=tmp_path)
    assert done.returncode == 1
    assert "entry 1-0 is only in the source" in done.stderr
    redis_8.fill([["XADD", key, "4-0", "b", binary]])
    done = migrate(redis_8, tailrace, "--keys", key, directory=tmp_path)
    assert "the entry 4-0: " in done.stdout
    assert "the entry 1-0: " not in done.stdout


def test_a_time_to_live_goes_along_between_servers_that_have_it(
    redis_8: End, redis_7: End, tmp_path: Path
) -> None:
    one_stream(redis_8, "ttl")
    redis_8.fill([["EXPIRE", "ttl", 1000]])
    migrated(redis_8, redis_7, "--keys", "ttl", directory=tmp_path)
    assert redis_7.run("PEXPIRETIME", "ttl") == redis_8.run("PEXPIRETIME", "ttl")


@pytest.mark.parametrize(
    ("change", "said"),
    some_each_day(
        [
            (["XADD", "%", "9-0", "a", "b"], "entry 9-0 is only in the target"),
            (["XDEL", "%", "5-0"], "entry 5-0 is only in the source"),
            (["XSETID", "%", "800-0"], "last_id is 6-0 in the source and 800-0 in the target"),
            (["XACK", "%", "g", "5-0"], "group g: pending entry 5-0 is owned by c"),
            (["XCLAIM", "%", "g", "d", 0, "5-0", "RETRYCOUNT", 8], "after 8 deliveries in the target"),
            (["XGROUP", "CREATECONSUMER", "%", "g", "x"], "group g: consumer x is only in the target"),
            (["XGROUP", "SETID", "%", "g", "0"], "group g: the last delivered id is 6-0 in the source"),
            (["XGROUP", "DESTROY", "%", "g"], "group g is only in the source"),
            (["DEL", "%"], "the stream is missing in the target"),
        ],
        3,
    ),
)
def test_a_comparison_finds_each_kind_of_difference(
    change: list[Word], said: str, redis_8: End, another_redis_8: End, tmp_path: Path
) -> None:
    key = "compared:" + "-".join(str(word) for word in change)
    for end in (redis_8, another_redis_8):
        one_stream(end, key)
        end.fill([["XADD", key, "6-0", "a", "b"], ["XGROUP", "CREATE", key, "g", "0"]])
    redis_8.fill([["XREADGROUP", "GROUP", "g", "c", "STREAMS", key, ">"]])
    migrated(redis_8, another_redis_8, "--keys", key, directory=tmp_path)
    assert (
        migrate(redis_8, another_redis_8, "--keys", key, "--verify-only", directory=tmp_path).returncode == 0
    )
    another_redis_8.fill([[key if word == "%" else word for word in change]])
    done = migrate(redis_8, another_redis_8, "--keys", key, "--verify-only", directory=tmp_path)
    assert done.returncode == 1
    assert said in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("redis+sentinel://a", "data"), "is not an address of a known kind"),
        (("mysql://a", "data"), "is not an address of a known kind"),
        (("redis://user:secret@h/0", "redis://h/0/"), "FROM and TO are the same place"),
        (("data", "other", "--follow"), "--follow needs a running server as FROM"),
        (("redis://h", "data", "--until-quiet", "5"), "--until-quiet is for --follow"),
        (("redis://h", "data", "--verify-only", "--replace"), "--verify-only writes nothing"),
        (("http://user@h", "data"), "a token does not belong into a URL"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    done = migrate(words[0], words[1], *words[2:], directory=tmp_path)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.replace("│", " ").split())
    assert "secret" not in done.stderr


def test_the_kind_of_a_server_must_be_right(redis_8: End, in_cluster: End, tmp_path: Path) -> None:
    node = in_cluster.address.replace("+cluster", "")
    done = migrate(node, redis_8, directory=tmp_path)
    assert (done.returncode, "must start with redis+cluster://" in done.stderr) == (1, True)


def test_a_directory_without_data_is_no_source(redis_8: End, tmp_path: Path) -> None:
    done = migrate(tmp_path / "nothing", redis_8, directory=tmp_path)
    assert done.returncode == 1
    assert "holds no data" in done.stderr


def test_a_directory_that_a_server_uses_is_no_target(redis_8: End, tmp_path: Path) -> None:
    one_stream(redis_8, "used")
    with running_server(tmp_path):
        done = migrate(redis_8, tmp_path / "data", "--keys", "used", directory=tmp_path)
    assert done.returncode == 1
    assert "no server can run on the directory" in done.stderr


def test_a_state_file_of_another_migration_is_refused(redis_8: End, redis_7: End, tmp_path: Path) -> None:
    (tmp_path / "state").write_text('{"source":"a","target":"b"}\n')
    done = migrate(redis_8, redis_7, "--state", "state", directory=tmp_path)
    assert done.returncode == 1
    assert "belongs to a migration from a to b" in done.stderr


def test_secrets_are_read_from_files_and_never_shown(redis_8: End, tmp_path: Path) -> None:
    """A user of the server whose password is in a file."""
    redis_8.fill([["ACL", "SETUSER", "mover", "on", ">word", "~secret*", "+@all"]])
    one_stream(redis_8, "secret")
    (tmp_path / "password").write_text("word\n")
    address = redis_8.address.replace("unix://", "unix://mover@")
    options = ("--keys", "secret", "--from-secret", "password")
    printed = migrated(address, tmp_path / "data", *options, directory=tmp_path)
    assert "mover" not in printed
    (tmp_path / "password").write_text("wrong\n")
    done = migrate(address, tmp_path / "data", *options, directory=tmp_path)
    assert done.returncode == 1
    assert "refuses the user or the password" in done.stderr


def test_the_help_of_all_commands_loads_no_redis_client() -> None:
    program = (
        "import sys; sys.argv = ['tailrace', '--help']\n"
        "from tailrace.app.cli import main\n"
        "try: main()\n"
        "except SystemExit: sys.exit(any(name in sys.modules for name in ('redis', 'hiredis')))"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, check=False).returncode == 0
