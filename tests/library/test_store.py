"""`tailrace.open`: a store for threads, what it keeps, and what it refuses."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import tailrace
from tailrace.core.limits import ENTRY_BYTES_MAX
from tailrace.library import CannotOpen, Entry, ErrorCode, Store, StoreUnavailable, StreamError

ONE = {"total": "5"}


@pytest.fixture
def store() -> Iterator[Store]:
    with tailrace.open() as opened:
        yield opened


def ids(entries: Iterator[Entry] | list[Entry]) -> list[str]:
    return [entry.id for entry in entries]


def test_entries_groups_and_pending_entries_are_there_when_the_directory_is_opened_again(
    tmp_path: Path,
) -> None:
    with tailrace.open(tmp_path / "new" / "data") as store:
        first, second = store.append("orders", ONE), store.append("orders", {"total": "7"})
        assert store.create_group("orders", "mail")
        delivered = store.read_group("orders", "mail", "alice")
        assert [entry.fields for entry in delivered] == [ONE, {"total": "7"}]
        assert store.ack("orders", "mail", first) == 1
    with tailrace.open(str(tmp_path / "new" / "data")) as store:
        assert ids(store.range("orders")) == [first, second]
        assert not store.create_group("orders", "mail")
        assert store.read_group("orders", "mail", "bob") == []
        (claimed,) = store.read_group("orders", "mail", "bob", claim_min_idle_ms=0)
        assert (claimed.id, claimed.deliveries) == (second, 1)


def test_a_directory_in_use_is_refused_and_stays_usable(tmp_path: Path) -> None:
    with tailrace.open(tmp_path) as store:
        with pytest.raises(CannotOpen, match="is in use: another process, or another store"):
            tailrace.open(tmp_path)
        store.append("orders", ONE)
    with tailrace.open(tmp_path) as store:
        assert store.length("orders") == 1


FORKED = """
import os, sys, warnings
import tailrace

warnings.simplefilter("ignore", DeprecationWarning)
with tailrace.open(sys.argv[1]) as store:
    store.append("orders", {"total": "5"})
    child = os.fork()
    if not child:
        for use in (lambda: store.length("orders"), lambda: next(store.range("orders"))):
            try:
                use()
            except RuntimeError as error:
                print(error, flush=True)
        store.close()
        os._exit(0)
    os.waitpid(child, 0)
    print(store.append("orders", {"total": "7"}, id="9999999999999-0"), store.length("orders"))
"""


def test_a_forked_process_cannot_use_the_store_and_does_not_disturb_it(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKED, str(tmp_path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    *refused, result = done.stdout.splitlines()
    assert len(refused) == 2
    assert all("from which this process was forked" in line for line in refused)
    assert result == "9999999999999-0 2"
    with tailrace.open(tmp_path) as store:
        assert store.length("orders") == 2


def test_a_path_that_is_a_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("mine")
    with pytest.raises(CannotOpen, match="cannot use the data directory"):
        tailrace.open(path)
    assert path.read_text() == "mine"


def test_another_durability_is_refused_and_creates_nothing(tmp_path: Path) -> None:
    wrong: Any = "never"
    with pytest.raises(ValueError, match="durability='never' is unknown; choose 'always' or 'interval'"):
        tailrace.open(tmp_path / "data", durability=wrong)
    assert not (tmp_path / "data").exists()


def test_data_of_interval_is_on_disk_after_closing(tmp_path: Path) -> None:
    with tailrace.open(tmp_path, durability="interval") as store:
        store.append("orders", ONE)
    with tailrace.open(tmp_path) as store:
        assert store.length("orders") == 1


def test_a_store_without_a_directory_keeps_its_data_in_memory(store: Store) -> None:
    store.append("orders", ONE)
    with tailrace.open() as other:
        assert other.length("orders") == 0
    assert store.length("orders") == 1


def test_append_many_appends_all_or_none(store: Store) -> None:
    assert store.append_many("orders", []) == []
    appended = store.append_many("orders", ({"n": str(n)} for n in range(3)))
    assert ids(store.range("orders")) == appended
    with pytest.raises(StreamError) as refused:
        store.append_many("orders", [ONE, {"n": "x" * ENTRY_BYTES_MAX}])
    assert refused.value.code is ErrorCode.ENTRY_TOO_LARGE
    assert store.length("orders") == 3


def test_a_range_of_several_pages_is_whole_in_both_directions(store: Store) -> None:
    appended = store.append_many("orders", ({"n": str(n)} for n in range(2_500)))
    assert ids(store.range("orders")) == appended
    assert ids(store.range("orders", reverse=True)) == appended[::-1]
    assert ids(store.range("orders", count=1_200)) == appended[:1_200]
    assert ids(store.range("orders", f"({appended[1]}", appended[3])) == appended[2:4]
    assert ids(store.range("orders", count=0)) == []
    assert ids(store.range("missing")) == []


def test_bytes_and_repeated_names_are_kept(store: Store) -> None:
    store.append(b"\xff", [("tag", "a"), ("tag", b"\xff\x00")])
    (entry,) = store.range(b"\xff")
    assert entry.pairs == ((b"tag", b"a"), (b"tag", b"\xff\x00"))
    assert entry.fields == {"tag": "\udcff\x00"}
    store.append("copy", entry.fields)
    assert next(store.range("copy")).pairs == ((b"tag", b"\xff\x00"),)


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        ({"total": 5}, TypeError, "5 is of type int; it must be str or bytes: convert it first"),
        ({}, ValueError, "the entry has no fields"),
        ("ab", TypeError, "the entry 'ab' is of type str; it must be a mapping of names to values"),
        (7, TypeError, "the entry 7 is of type int; it must be a mapping"),
        (["ab", "cd"], TypeError, "'ab' is not a pair of a name and a value"),
        ([("a", "b", "c", "d")], TypeError, "is not a pair of a name and a value"),
    ],
)
def test_fields_of_another_type_are_refused(
    store: Store, fields: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        store.append("orders", fields)
    assert store.length("orders") == 0


def test_an_id_that_does_not_rise_is_refused_with_the_code_of_the_server(store: Store) -> None:
    assert store.append("orders", ONE, id="7-1") == "7-1"
    with pytest.raises(StreamError, match="equal or smaller") as refused:
        store.append("orders", ONE, id="7-1")
    assert refused.value.code is ErrorCode.ID_NOT_GREATER


def test_ack_of_a_group_that_does_not_exist_is_refused(store: Store) -> None:
    store.append("orders", ONE, id="1-1")
    with pytest.raises(StreamError) as refused:
        store.ack("orders", "mial", "1-1")
    assert refused.value.code is ErrorCode.NOGROUP
    assert store.ack("orders", "mial") == 0


def test_a_pending_entry_that_was_deleted_says_so(store: Store) -> None:
    store.append("orders", ONE, id="1-1")
    store.create_group("orders", "mail")
    store.read_group("orders", "mail", "alice", count=1)
    store.command("XDEL", "orders", "1-1")
    history = store.command("XREADGROUP", "GROUP", "mail", "alice", "STREAMS", "orders", "0")
    assert history == [["orders", [["1-1", None]]]]


def test_every_command_runs_in_words(store: Store) -> None:
    assert store.command("XADD", "orders", "1-1", "total", b"\xff") == "1-1"
    assert store.command("XRANGE", "orders", "-", "+") == [["1-1", ["total", "\udcff"]]]
    assert store.command("XRANGE", "orders", "-", "+", binary=True) == [[b"1-1", [b"total", b"\xff"]]]
    assert (store.command("PING"), store.command("EXISTS", "orders")) == ("PONG", 1)
    with pytest.raises(StreamError, match="unknown command"):
        store.command("HGET", "orders")


def test_a_transaction_runs_all_or_none(store: Store) -> None:
    with pytest.raises(StreamError, match="wrong number of arguments"):
        store.transaction([("XADD", "orders", "1-1", "total", "5"), ("XLEN",)])
    assert store.length("orders") == 0
    length, pong, refused, invalid = store.transaction(
        [
            ("XADD", "orders", "1-1", "n", "1"),
            ("PING",),
            ("XADD", "orders", "1-1", "n", "2"),
            ("XTRIM", "orders", "MAXLEN", "-1"),
        ]
    )
    assert (length, pong, type(refused)) == ("1-1", "PONG", StreamError)
    assert str(invalid) == "ERR The MAXLEN argument must be >= 0."


def test_a_read_waits_for_an_entry_of_another_thread(store: Store) -> None:
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(store.read, "orders", "0-0", wait_ms=60_000)
        appended = store.append("orders", ONE)
        assert ids(waiting.result(30)) == [appended]
    assert store.read("orders", appended) == []
    assert store.read("orders", appended, wait_ms=1) == []


def test_a_tail_yields_old_and_new_entries(store: Store) -> None:
    store.append("orders", ONE, id="1-1")
    following = store.tail("orders", "0-0")
    assert next(following).id == "1-1"
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(next, following)
        store.append("orders", ONE, id="2-1")
        assert waiting.result(30).id == "2-1"


def test_closing_ends_the_reads_that_wait_in_other_threads() -> None:
    for _ in range(5):
        store = tailrace.open()
        with ThreadPoolExecutor(2) as pool:
            waiting = [pool.submit(store.read, "orders", wait_ms=60_000) for _ in range(2)]
            while store._store._store.waiting_count < 2:
                store.length("orders")
            store.close()
            for each in waiting:
                with pytest.raises(StoreUnavailable, match="down"):
                    each.result(30)


def test_a_closed_store_refuses_calls_and_can_be_closed_again(store: Store) -> None:
    entries = store.range("orders")
    store.close()
    store.close()
    for call in (lambda: store.append("orders", ONE), lambda: next(entries)):
        with pytest.raises(ValueError, match="the store is closed"):
            call()


def test_threads_share_a_store(tmp_path: Path) -> None:
    with tailrace.open(tmp_path) as store, ThreadPoolExecutor(8) as pool:
        appended = list(pool.map(lambda n: store.append("orders", {"n": str(n)}), range(200)))
        assert sorted(ids(store.range("orders"))) == sorted(appended)
        assert len(set(appended)) == 200


def test_importing_the_package_loads_no_part_of_it() -> None:
    program = "import sys, tailrace; print([n for n in sys.modules if n.startswith('tailrace.')])"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_the_package_has_no_other_names() -> None:
    with pytest.raises(AttributeError, match="module 'tailrace' has no attribute 'opne'"):
        tailrace.opne  # type: ignore[attr-defined] # noqa: B018
