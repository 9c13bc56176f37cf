"""Redis commands, reads of several streams, and the single calls of a stream, with results and errors."""

from __future__ import annotations

import pytest

from tailrace_client import AsyncTailrace, ExactFields, Stream, Tailrace, TailraceError


def test_a_command_returns_the_reply_of_redis(tailrace: Tailrace, key: str) -> None:
    assert tailrace.command("XADD", key, "1-1", "n", 1) == "1-1"
    assert tailrace.command("XRANGE", key, "-", "+") == [["1-1", ["n", "1"]]]
    assert tailrace.command("XLEN", key) == 1
    assert tailrace.command("XREAD", "COUNT", 1, "STREAMS", key, "1-1") is None


def test_a_command_sends_and_returns_bytes_that_are_not_text(tailrace: Tailrace, key: str) -> None:
    assert tailrace.command("XADD", key, "1-1", b"\xff", "\udcfe") == "1-1"
    assert tailrace.command("XRANGE", key, "-", "+", binary=True) == [[b"1-1", [b"\xff", b"\xfe"]]]
    assert tailrace.command("CONFIG", "SET", "stream-node-max-entries", 100, binary=True) == "OK"


def test_a_command_that_fails_raises_the_error_line_of_redis(tailrace: Tailrace, key: str) -> None:
    with pytest.raises(TailraceError) as refused:
        tailrace.command("XADD", key, "0-0", "n", "1")
    assert refused.value.problem["error"].startswith("ERR The ID specified in XADD must be greater than 0-0")


@pytest.mark.parametrize("words", [("XLEN", None), ("XLEN", True), ("XLEN", ["s"])])
def test_a_word_of_another_type_is_refused_and_nothing_is_sent(
    tailrace: Tailrace, words: tuple[object, ...]
) -> None:
    with pytest.raises(TypeError, match="use str, bytes, int or float"):
        tailrace.command(*words)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a sequence of words"):
        tailrace.pipeline(["XLEN s"])


def test_a_pipeline_runs_all_commands_and_raises_the_first_error(tailrace: Tailrace, key: str) -> None:
    commands = [("XADD", key, "1-1", "n", "1"), ("XADD", key, "1-1", "n", "2"), ("XLEN", key)]
    with pytest.raises(TailraceError, match="command 1: ERR The ID specified in XADD is equal or smaller"):
        tailrace.pipeline(commands)
    [refused, again, length] = tailrace.pipeline(commands, raise_on_error=False)
    assert isinstance(refused, TailraceError)
    assert (refused.code, refused.side_effects) == ("COMMAND_FAILED", "unknown")
    assert isinstance(again, TailraceError)
    assert length == 1


def test_a_transaction_runs_all_of_its_commands_or_none(tailrace: Tailrace, key: str) -> None:
    add = ("XADD", key, "*", "n", "1")
    with pytest.raises(TailraceError) as aborted:
        tailrace.transaction([add, ("NO-SUCH-COMMAND",)])
    assert (aborted.value.code, aborted.value.side_effects) == ("TRANSACTION_ABORTED", "none")
    assert tailrace.transaction([add, ("XLEN", key)])[1] == 1


def test_streams_are_listed_page_by_page_also_where_a_key_is_not_text(tailrace: Tailrace, key: str) -> None:
    names = [f"{key}/{number}" for number in range(5)]
    for name in names:
        tailrace.stream(name).create()
    tailrace.command("XADD", f"{key}/9".encode() + b"\xff", "*", "n", "1")
    tailrace.command("XADD", f"{key}/9".encode() + b"\xff\xff", "*", "n", "1")
    listed = list(tailrace.streams(f"{key}/", page=1))
    assert [each.key for each in listed[:5]] == names
    assert [each.length for each in listed[5:]] == [1, 1]
    assert list(tailrace.streams(f"{key}/none")) == []


def test_several_streams_are_read_after_a_position_in_each(tailrace: Tailrace, key: str) -> None:
    one, two = (tailrace.stream(f"{key}/{name}") for name in ("one", "two"))
    for stream in (one, two):
        for number in (1, 2, 3):
            stream.append({"n": str(number)}, id=f"{number}-0")
    pages = tailrace.read({one.key: "1", two.key: "2-0", f"{key}/none": "0"}, count=1)
    assert {name: page.entries for name, page in pages.items()} == {
        one.key: [("2-0", {"n": "2"})],
        two.key: [("3-0", {"n": "3"})],
        f"{key}/none": [],
    }
    assert pages[one.key].next == "2-0"
    for stream in (one, two):
        stream.group("g").create("0")
    slices = tailrace.read_group("g", "alice", [one.key, two.key], max_count=4)
    assert [[each.id for each in part.entries] for part in slices.values()] == [
        ["1-0", "2-0", "3-0"],
        ["1-0"],
    ]


def test_a_tail_follows_several_streams_and_names_the_stream_of_each_entry(
    tailrace: Tailrace, key: str
) -> None:
    keys = [f"{key}/a=&+%é", f"{key}/b"]
    for name in keys:
        tailrace.stream(name).append({"n": "1"}, id="1-1")
    tail = tailrace.tail({keys[0]: "0", keys[1]: "0"})
    assert sorted((next(tail), next(tail))) == [(name, "1-1", {"n": "1"}) for name in keys]
    tailrace.stream(keys[1]).append({"n": "2"}, id="2-1")
    assert next(tail) == (keys[1], "2-1", {"n": "2"})
    with pytest.raises(ValueError, match="streams is empty"):
        tailrace.tail([])


def test_a_stream_is_read_backwards_over_many_pages(stream: Stream) -> None:
    stream.append_many({"n": str(number)} for number in range(2_500))
    forwards = list(stream.read())
    assert list(stream.read_reverse()) == forwards[::-1]
    assert list(stream.read_reverse(count=1_001)) == forwards[: -1_001 - 1 : -1]
    assert list(stream.read_reverse(forwards[9][0], f"({forwards[2][0]}")) == forwards[9:2:-1]
    assert stream.last(3) == forwards[-3:]
    assert stream.last(0) == []


def test_one_entry_is_read_by_its_id(stream: Stream) -> None:
    assert stream.get("1-1") is None
    stream.append([("n", b"\xff"), ("n", "2")], id="1-1")
    fields = stream.get("1-1")
    assert isinstance(fields, ExactFields)
    assert fields.pairs == ((b"n", b"\xff"), (b"n", b"2"))
    assert stream.get("1-2") is None
    assert stream.last() == [("1-1", fields)]
    assert stream.delete_entry("1-1")
    assert not stream.delete_entry("1-1")
    with pytest.raises(TailraceError, match="INVALID_ID"):
        stream.get("soon")


def test_entries_after_a_position_are_waited_for(stream: Stream, tailrace: Tailrace) -> None:
    start = stream.read_after("$")
    assert start.entries == []
    stream.append({"n": "1"})
    page = tailrace.stream(stream.key).read_after(start.next, wait_ms=10_000)
    assert [fields for _, fields in page.entries] == [{"n": "1"}]
    stream.append({"n": "2"})
    stream.trim(max_length=0)
    with pytest.raises(TailraceError) as gone:
        stream.read_after(page.next, strict=True)
    assert gone.value.status == 410


def test_a_batch_is_appended_whole_or_not_at_all(stream: Stream) -> None:
    ids = stream.append_batch([{"n": "1"}, [("n", b"\xff")]], ids=["1-1", "2-1"])
    assert ids == ["1-1", "2-1"]
    with pytest.raises(TailraceError, match="ID_NOT_GREATER"):
        stream.append_batch([{"n": "3"}, {"n": "4"}], ids=["3-1", "3-1"])
    with pytest.raises(ValueError, match="1 ids for 2 entries"):
        stream.append_batch([{"n": "3"}, {"n": "4"}], ids=["3-1"])
    assert stream.length() == 2
    once = stream.append_batch([{"n": "3"}], idempotency_key="k")
    assert stream.append_batch([{"n": "3"}], idempotency_key="k") == once


def test_the_head_of_a_stream_has_its_length_and_its_ids(stream: Stream) -> None:
    assert stream.head() is None
    assert not stream.exists()
    assert stream.create()
    assert not stream.create()
    head = stream.head()
    assert head is not None
    assert (head.length, head.first_id, head.last_id) == (0, None, "0-0")
    stream.append({"n": "1"}, id="1-1")
    stream.set_id("5-0", entries_added=7)
    head = stream.head()
    assert head is not None
    assert (head.length, head.first_id, head.last_id) == (1, "1-1", "5-0")
    assert stream.info().entries_added == 7


def test_groups_are_listed_and_a_claim_sets_what_it_is_told_to(stream: Stream) -> None:
    stream.append({"n": "1"}, id="1-1")
    group = stream.group("g")
    group.create("0")
    assert group.create_consumer("alice")
    assert not group.create_consumer("alice")
    group.read("alice")
    group.claim("bob", "1-1", min_idle_ms=0, retry_count=7, idle_ms=60_000)
    [pending] = group.pending()
    assert (pending.consumer, pending.deliveries) == ("bob", 7)
    assert (pending.idle_ms or 0) >= 60_000
    assert group.extend("bob", "1-1") == ["1-1"]
    [pending] = group.pending()
    assert (pending.deliveries, (pending.idle_ms or 0) < 60_000) == (7, True)
    assert [(each.name, each.pending) for each in stream.groups()] == [("g", 1)]


def test_what_a_program_prints_names_the_subject_and_no_secret(key: str) -> None:
    with Tailrace("http://me:password@127.0.0.1:8080/below", "token-of-mine") as tailrace:
        stream = tailrace.stream(key)
        shown = [repr(each) for each in (tailrace, stream, stream.group("g"))]
        assert shown == [
            "Tailrace('http://127.0.0.1:8080/below')",
            f"Stream({key!r})",
            f"Group({key!r}, 'g')",
        ]
        everything = repr([tailrace.session.settings, tailrace.session, tailrace.generated])
    assert "password@" not in everything
    assert "token-of-mine" not in everything
    assert repr(AsyncTailrace("http://a/", "token-of-mine")) == "AsyncTailrace('http://a/')"
