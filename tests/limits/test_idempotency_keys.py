"""The memory for the producers of a stream is limited, and a long id takes no more of it than a short one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from tailrace.core import commands as c
from tailrace.core.effects import Effect
from tailrace.core.errors import ErrorCode
from tailrace.core.idempotency import epochs, timed_keys
from tailrace.core.invariants import check
from tailrace.core.keyspace import Keyspace
from tailrace.core.limits import EPOCH_PRODUCERS_MAX, KIB, NAME_BYTES_MAX
from tailrace.core.storage.state import decode_stream, encode_stream, restore_memory
from tests.support.engine_calls import FRAGMENT, Calls
from tests.support.server_process import ServerProcess, running_server
from tests.support.wire import Answer, Wire, request, wired
from tests.unit.test_storage import Disk

LONG: Final = 64 * KIB


@pytest.fixture
def calls() -> Calls:
    return Calls()


def keyed(producer: str, key: str = "k", *, epoch: int | None = 1) -> c.Append:
    return c.Append(b"s", [FRAGMENT], idempotency=c.Idempotency(producer.encode(), key.encode(), None, epoch))


def is_known(calls: Calls, producer: str, key: str = "k", *, epoch: int | None = 1) -> bool:
    """Whether the append is answered from memory; it counts as a use of the producer."""
    replayed: bool = calls.reply(keyed(producer, key, epoch=epoch)).replayed
    return replayed


# --- producers with an epoch -----------------------------------------------------------------------------


def test_a_stream_of_one_entry_remembers_no_more_than_the_most_producers(calls: Calls) -> None:
    for number in range(23_000):
        trim = c.Trim(max_length=1)
        idempotency = c.Idempotency(b"%d" % number, b"k", None, 1)
        calls.reply(c.Append(b"s", [FRAGMENT], trim=trim, idempotency=idempotency))
    info = calls.reply(c.InfoStream(b"s"))
    assert (info.length, info.producer_count, info.idmp_key_count) == (1, *[EPOCH_PRODUCERS_MAX] * 2)
    assert is_known(calls, "22999")
    check(calls.engine.keyspace)


@pytest.fixture
def three_producers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(epochs, "EPOCH_PRODUCERS_MAX", 3)


@pytest.mark.usefixtures("three_producers")
def test_the_producer_that_was_used_least_recently_is_forgotten_first(calls: Calls) -> None:
    for producer in "abc":
        calls.reply(keyed(producer))
    calls.reply(keyed("a", "another key"))
    calls.reply(keyed("d"))
    assert not is_known(calls, "b")
    assert all(is_known(calls, producer) for producer in "ad")


@pytest.mark.usefixtures("three_producers")
def test_a_retry_that_is_answered_from_memory_counts_as_a_use(calls: Calls) -> None:
    for producer in "abc":
        calls.reply(keyed(producer))
    assert is_known(calls, "a")
    calls.reply(keyed("d"))
    assert is_known(calls, "a")
    assert not is_known(calls, "b")


@pytest.mark.usefixtures("three_producers")
def test_a_forgotten_producer_begins_anew_whatever_its_epoch(calls: Calls) -> None:
    calls.reply(keyed("a", epoch=7))
    for producer in "bcd":
        calls.reply(keyed(producer))
    assert not is_known(calls, "a", epoch=3)


@pytest.mark.usefixtures("three_producers")
def test_keys_without_an_epoch_push_out_no_producer_with_one(calls: Calls) -> None:
    calls.reply(keyed("a"))
    for number in range(10):
        calls.reply(keyed(str(number), epoch=None))
    assert is_known(calls, "a")
    assert is_known(calls, "0", epoch=None)


@pytest.mark.usefixtures("three_producers")
def test_a_replay_of_the_effects_forgets_the_same_producers(calls: Calls) -> None:
    effects: list[Effect] = []
    for producer in "abcadbeaf":
        effects += calls.outcome(keyed(producer)).effects
    rebuilt = Keyspace()
    for effect in effects:
        effect.apply(rebuilt)
    kept = list(rebuilt.streams[b"s"].idempotency.epochs.producers)
    assert kept == list(calls.engine.keyspace.streams[b"s"].idempotency.epochs.producers)
    assert kept == [b"e", b"a", b"f"]


@pytest.mark.usefixtures("three_producers")
def test_the_order_of_use_outlives_a_checkpoint_and_a_restart(tmp_path: Path) -> None:
    with closing(Disk(tmp_path)) as disk:
        for producer in "abc":
            disk.write(disk.engine.execute(keyed(producer), 1000).effects)
        disk.write(disk.engine.execute(keyed("a"), 1000).effects)
        disk.checkpoint()
        disk.write(disk.engine.execute(keyed("b"), 1000).effects)
    with closing(Disk(tmp_path)) as disk:
        check(disk.engine.keyspace)
        disk.engine.execute(keyed("d"), 1000)
        kept = list(disk.engine.keyspace.streams[b"s"].idempotency.epochs.producers)
    assert kept == [b"a", b"b", b"d"]


def test_a_row_of_an_earlier_release_holds_both_kinds_of_keys_of_a_producer(calls: Calls) -> None:
    calls.reply(keyed("p", "1", epoch=None))
    calls.reply(keyed("p", "2", epoch=4))
    state = decode_stream(encode_stream(b"s", calls.engine.keyspace.streams[b"s"]))
    *settings, [timed, with_epoch] = state.idempotency
    memory = restore_memory([*settings, [[b"p", timed[1], with_epoch[2]]]])
    assert (memory.producer_count, memory.key_count) == (1, 2)
    assert memory.find(c.Idempotency(b"p", b"1")) is not None
    assert memory.find(c.Idempotency(b"p", b"2", epoch=4)) is not None


# --- keys ------------------------------------------------------------------------------------------------


def test_an_epoch_that_has_the_most_keys_takes_no_other_and_forgets_none(
    calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(epochs, "EPOCH_KEYS_MAX", 2)
    for key in "12":
        calls.reply(keyed("a", key))
    refused = calls.refused(keyed("a", "3"))
    assert refused.code is ErrorCode.LIMIT_EXCEEDED
    assert refused.line.startswith("ERR epoch 1 has 2 idempotency keys, the maximum")
    assert all(is_known(calls, "a", key) for key in "12")
    assert not is_known(calls, "a", "3", epoch=2)


@pytest.mark.parametrize(("module", "epoch"), [(epochs, 1), (timed_keys, None)])
def test_above_the_most_keys_the_least_recently_used_producer_goes_with_all_of_its_keys(
    calls: Calls, monkeypatch: pytest.MonkeyPatch, module: Any, epoch: int | None
) -> None:
    monkeypatch.setattr(module, "IDMP_KEYS_MAX", 5)
    for producer in "ab":
        for key in "12":
            calls.reply(keyed(producer, key, epoch=epoch))
    assert is_known(calls, "a", "1", epoch=epoch)
    calls.reply(keyed("c", "1", epoch=epoch))
    calls.reply(keyed("c", "2", epoch=epoch))
    assert [is_known(calls, producer, "1", epoch=epoch) for producer in "acb"] == [True, True, False]
    check(calls.engine.keyspace)


@pytest.mark.parametrize(("module", "epoch"), [(epochs, 1), (timed_keys, None)])
def test_one_producer_alone_keeps_its_keys_whatever_the_bound_on_all(
    calls: Calls, monkeypatch: pytest.MonkeyPatch, module: Any, epoch: int | None
) -> None:
    monkeypatch.setattr(module, "IDMP_KEYS_MAX", 2)
    for key in "123":
        calls.reply(keyed("a", key, epoch=epoch))
    assert all(is_known(calls, "a", key, epoch=epoch) for key in "123")


def test_an_old_epochs_keys_no_longer_count(calls: Calls) -> None:
    for epoch in range(1, 6):
        for key in "12":
            calls.reply(keyed("a", key, epoch=epoch))
    assert calls.reply(c.InfoStream(b"s")).idmp_key_count == 4
    check(calls.engine.keyspace)


# --- long ids --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with running_server(tmp_path_factory.mktemp("keys")) as process:
        yield process


@pytest.fixture
def wire(server: ServerProcess) -> Iterator[Wire]:
    with wired(server.port) as connection:
        yield connection


def command(wire: Wire, *words: str) -> Any:
    body = json.dumps(words).encode()
    answer = wire.ask(request("POST", "/v1/command", body))
    return json.loads(answer.body)["result"]


def test_ids_of_64_kib_and_more_are_taken_as_words_and_told_apart_by_their_last_byte(wire: Wire) -> None:
    names = ["x" * length + end for length in (NAME_BYTES_MAX, LONG, 16 * LONG) for end in "ab"]
    ids = [command(wire, "XADD", "long", "IDMP", "p", name, "*", "f", "v") for name in names]
    ids += [command(wire, "XADD", "long", "IDMP", name, "i", "*", "f", "v") for name in names]
    ids += [command(wire, "XADD", "long", "IDMPAUTO", name, "*", "f", "v") for name in names]
    assert len(set(ids)) == 3 * len(names)
    again = [command(wire, "XADD", "long", "IDMP", "p", name, "*", "f", "v") for name in names]
    assert again == ids[: len(names)]


def send(wire: Wire, producer: str, key: str) -> Answer:
    body = b'{"fields": {"f": "v"}}'
    headers = [f"Producer-Id: {producer}", f"Idempotency-Key: {key}"]
    return wire.ask(request("POST", "/v1/streams/headers/entries", body, *headers))


def test_ids_as_long_as_the_head_allows_are_taken_from_headers(wire: Wire) -> None:
    pairs = [("p" * 600, "k" * 600), ("p" * 600, "k" * 601), ("p", "k" * LONG), ("p" * LONG, "k")]
    first = [send(wire, *pair) for pair in pairs]
    again = [send(wire, *pair) for pair in pairs]
    assert [answer.status for answer in first] == [201] * len(pairs)
    assert [answer.status for answer in again] == [200] * len(pairs)
    assert [answer.body for answer in again] == [answer.body for answer in first]


def test_words_and_headers_name_the_same_key(wire: Wire) -> None:
    first = json.loads(send(wire, "q" * 700, "k" * 700).body)["id"]
    assert command(wire, "XADD", "headers", "IDMP", "q" * 700, "k" * 700, "*", "f", "v") == first


def test_the_bounds_are_shown(wire: Wire) -> None:
    shown = json.loads(wire.ask(request("GET", "/v1/limits")).body)
    names = ("idmp_keys_max", "epoch_producers_max", "epoch_keys_max")
    assert [shown[name] for name in names] == [1_000_000, 10_000, 100_000]
