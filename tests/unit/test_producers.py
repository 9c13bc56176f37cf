"""Producers that replay whole batches: the state of a batch in the stream, and taking a batch over."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tailrace.core import commands as c
from tailrace.core.errors import ErrorCode
from tailrace.core.limits import EPOCH_KEYS_MAX, EPOCH_PRODUCERS_MAX
from tailrace.core.replies import AppendReply, EpochInfo
from tests.support.api_client import KEY, NDJSON, ApiClient, assert_problem
from tests.support.engine_calls import FRAGMENT, Calls
from tests.unit.test_storage import Disk


def key_of(
    name: str, *, layout: bytes | None = b"first", epoch: int = 7, body: bytes = b"f"
) -> c.Idempotency:
    return c.Idempotency(b"p", name.encode(), body, epoch, layout)


def append(name: str, **options: Any) -> c.Append:
    return c.Append(b"s", [FRAGMENT], idempotency=key_of(name, **options))


def find(name: str, **options: Any) -> c.FindAppend:
    return c.FindAppend(b"s", key_of(name, **options))


def take_over(keys: int, *, epoch: int = 7, replaces: bytes = b"first") -> c.TakeOverEpoch:
    return c.TakeOverEpoch(b"s", b"p", epoch, replaces, b"second", keys)


INFO = c.InfoProducer(b"s", b"p")


@pytest.fixture
def calls() -> Calls:
    calls = Calls()
    calls.reply(append("0-0"))
    calls.reply(append("0-1"))
    return calls


# --- finding ---------------------------------------------------------------------------------------


def test_a_key_is_found_with_its_ids_and_nothing_is_appended_or_counted(calls: Calls) -> None:
    made = calls.reply(append("0-0"))
    before = calls.reply(c.InfoStream(b"s"))
    found = calls.reply(find("0-0"))
    assert isinstance(found, AppendReply)
    assert (list(found.ids), found.replayed) == (list(made.ids), True)
    assert calls.reply(find("0-9")) is None
    assert calls.reply(c.FindAppend(b"none", key_of("0-0"))) is None
    assert calls.reply(c.InfoStream(b"s")) == before


def test_looking_for_a_key_is_refused_as_an_append_would_be(calls: Calls) -> None:
    calls.reply(append("0-0", epoch=8))
    calls.reply(append("0-0", epoch=9))
    assert calls.refused(find("0-0", body=b"other", epoch=9)).code is ErrorCode.IDEMPOTENCY_MISMATCH
    assert calls.refused(find("0-0", layout=b"other", epoch=9)).code is ErrorCode.LAYOUT_CHANGED
    assert calls.refused(find("0-0")).code is ErrorCode.STALE_EPOCH


# --- inspecting ------------------------------------------------------------------------------------


def test_the_epochs_of_a_producer_show_their_layouts_and_keys(calls: Calls) -> None:
    assert calls.reply(INFO) == [EpochInfo(7, b"first", 2)]
    calls.reply(append("0-0", epoch=8, layout=None))
    assert calls.reply(INFO) == [EpochInfo(7, b"first", 2), EpochInfo(8, None, 1)]
    assert calls.reply(c.InfoProducer(b"s", b"unknown")) == []
    assert calls.refused(c.InfoProducer(b"none", b"p")).code is ErrorCode.NO_SUCH_STREAM


# --- taking over -----------------------------------------------------------------------------------


def test_an_epoch_that_is_taken_over_refuses_its_former_layout_and_keeps_its_keys(calls: Calls) -> None:
    assert calls.reply(take_over(2)) is None
    assert calls.reply(INFO) == [EpochInfo(7, b"second", 2)]
    assert calls.refused(append("0-2")).code is ErrorCode.LAYOUT_CHANGED
    assert calls.reply(append("0-0", layout=b"second")).replayed
    assert not calls.reply(append("0-2", layout=b"second")).replayed


def test_a_repeated_takeover_has_no_effect_also_after_an_append(calls: Calls) -> None:
    calls.reply(take_over(2))
    calls.reply(append("0-2", layout=b"second"))
    assert not calls.engine.execute(take_over(2), 1).effects


@pytest.mark.parametrize(
    "command", [take_over(1), take_over(3), take_over(2, replaces=b"third"), take_over(0, epoch=8)]
)
def test_an_epoch_that_is_not_as_it_was_seen_is_not_taken_over(
    calls: Calls, command: c.TakeOverEpoch
) -> None:
    refusal = calls.refused(command)
    assert refusal.code is ErrorCode.LAYOUT_CHANGED
    assert calls.reply(INFO) == [EpochInfo(7, b"first", 2)]


def test_the_loser_of_two_takeovers_learns_the_layout_of_the_winner(calls: Calls) -> None:
    calls.reply(take_over(2))
    refusal = calls.refused(c.TakeOverEpoch(b"s", b"p", 7, b"first", b"third", 2))
    assert (refusal.code, refusal.details["layout"]) == (ErrorCode.LAYOUT_CHANGED, "second")


def test_an_epoch_without_a_layout_can_be_taken_over(calls: Calls) -> None:
    calls.reply(append("0-0", epoch=8, layout=None))
    calls.reply(take_over(1, epoch=8))
    assert calls.reply(INFO)[-1] == EpochInfo(8, b"second", 1)


def test_a_forgotten_epoch_and_a_missing_stream_cannot_be_taken_over(calls: Calls) -> None:
    calls.reply(append("0-0", epoch=8))
    calls.reply(append("0-0", epoch=9))
    assert calls.refused(take_over(2)).code is ErrorCode.STALE_EPOCH
    missing = c.TakeOverEpoch(b"none", b"p", 7, b"first", b"second", 0)
    assert calls.refused(missing).code is ErrorCode.NO_SUCH_STREAM


def test_a_takeover_counts_as_a_use_of_the_producer(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tailrace.core.idempotency.epochs.EPOCH_PRODUCERS_MAX", 2)
    assert EPOCH_PRODUCERS_MAX > 2
    assert EPOCH_KEYS_MAX > 2
    calls.reply(c.Append(b"s", [FRAGMENT], idempotency=c.Idempotency(b"q", b"0", None, 1)))
    calls.reply(take_over(2))
    calls.reply(c.Append(b"s", [FRAGMENT], idempotency=c.Idempotency(b"r", b"0", None, 1)))
    assert calls.reply(INFO) == [EpochInfo(7, b"second", 2)]
    assert calls.reply(c.InfoProducer(b"s", b"q")) == []


@pytest.mark.parametrize("checkpoint", [False, True])
def test_a_takeover_survives_a_crash(tmp_path: Path, checkpoint: bool) -> None:  # noqa: FBT001
    with closing(Disk(tmp_path)) as disk:
        for command in (append("0-0"), take_over(1)):
            disk.write(disk.engine.execute(command, 1000).effects)
        if checkpoint:
            disk.checkpoint()
    with closing(Disk(tmp_path)) as disk:
        assert disk.engine.execute(INFO, 1000).reply == [EpochInfo(7, b"second", 1)]


# --- over HTTP -------------------------------------------------------------------------------------

LINE = b'{"n":"1"}\n'
HEADERS = {**NDJSON, "Producer-Id": "spark/q:dead", "Producer-Epoch": "7", "Producer-Layout": "4 partitions"}
PRODUCER = f"{KEY}/producers/spark%2Fq:dead"


def imported(api: ApiClient, key: str, verb: str = "import", body: bytes = LINE, **headers: str) -> Any:
    given = {**HEADERS, "Idempotency-Key": key, **headers}
    return api.post(f"{KEY}/entries:{verb}", content=body, headers=given)


def test_a_check_appends_nothing_and_tells_whether_the_key_is_known() -> None:
    api = ApiClient.with_race()
    assert imported(api, "0-0", "check").json() == {"known": False, "count": 1}
    assert api.get(f"{KEY}/length").json() == {"length": 3}
    imported(api, "0-0")
    assert imported(api, "0-0", "check").json() == {"known": True, "count": 1}
    assert_problem(imported(api, "0-0", "check", body=LINE * 2), 422, "IDEMPOTENCY_MISMATCH")
    assert api.get(f"{KEY}/length").json() == {"length": 4}


def test_a_check_refuses_what_an_import_refuses() -> None:
    api = ApiClient.with_race()
    assert_problem(imported(api, "0-0", "check", body=b'{"n":1}\n'), 422, "BODY_MISMATCH")
    assert_problem(imported(api, "0-0", "check", body=b"\n"), 422, "BODY_MISMATCH")
    without_key = api.post(f"{KEY}/entries:check", content=LINE, headers=NDJSON)
    assert without_key.json() == {"known": False, "count": 1}


def test_a_producer_is_inspected_and_its_epoch_taken_over() -> None:
    api = ApiClient.with_race()
    assert api.get(PRODUCER).json() == {"producer": "spark/q:dead", "epochs": []}
    imported(api, "0-0")
    epoch = {"epoch": 7, "layout": "4 partitions", "keys": 1}
    assert api.get(PRODUCER).json()["epochs"] == [epoch]
    body = {"epoch": 7, "replaces": "4 partitions", "layout": "4 partitions; run 2", "keys": 1}
    assert api.post(f"{PRODUCER}:takeover", body).status_code == 204
    assert api.get(PRODUCER).json()["epochs"] == [{**epoch, "layout": "4 partitions; run 2"}]
    problem = assert_problem(imported(api, "0-1"), 409, "LAYOUT_CHANGED")
    assert problem["layout"] == "4 partitions; run 2"
    problem = assert_problem(
        api.post(f"{PRODUCER}:takeover", {**body, "layout": "3", "keys": 5}), 409, "LAYOUT_CHANGED"
    )
    assert "has 1 idempotency keys" in problem["detail"]
