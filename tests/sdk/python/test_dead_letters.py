"""Dead letters as a setting of the group, through the Python SDK."""

from __future__ import annotations

from tailrace_client import Tailrace


def test_an_entry_moves_to_dead_letters_and_comes_back_once(tailrace: Tailrace, key: str) -> None:
    stream, dead = tailrace.stream(key), f"{key}:dead"
    group = stream.group("judges")
    group.create("0", create_stream=True)
    state = group.configure(max_deliveries=1, dead_letter_stream=dead)
    assert (state.max_deliveries, state.dead_letter_stream) == (1, dead)
    failed = stream.append({"rider": "Castilla"})
    assert [entry.id for entry in group.read("alice")] == [failed]
    assert group.nack(failed) == 1
    [(letter, fields)] = list(tailrace.stream(dead).read())
    assert (fields["rider"], fields["_source_id"]) == ("Castilla", failed)
    reply = group.redrive()
    assert [entry.id for entry in reply.redriven] == [letter]
    assert (reply.skipped, reply.next_) == (0, None)
    assert group.redrive().redriven == []
    assert group.redrive(letter).skipped == 1
    assert [entry.fields for entry in group.read("bob")] == [{"rider": "Castilla"}]


def test_none_removes_the_settings(tailrace: Tailrace, key: str) -> None:
    group = tailrace.stream(key).group("judges")
    group.create("0", create_stream=True)
    group.configure(max_deliveries=2, dead_letter_stream=f"{key}:dead")
    state = group.configure(max_deliveries=None, dead_letter_stream=None)
    assert not state.max_deliveries
    assert not state.dead_letter_stream


def test_a_group_with_a_filter_delivers_only_what_matches(tailrace: Tailrace, key: str) -> None:
    group = tailrace.stream(key).group("g")
    group.create(after="0", create_stream=True)
    assert group.configure(filter='fields.n == "2"').filter_ == 'fields.n == "2"'
    tailrace.stream(key).append_many([{"n": "1"}, {"n": "2"}, {"n": "3"}])
    assert [entry.fields for entry in group.read("alice")] == [{"n": "2"}]
    assert group.info().lag == 0
    assert not group.configure(filter=None).filter_
