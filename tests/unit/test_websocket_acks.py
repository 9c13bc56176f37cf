"""An acknowledgment over a WebSocket without options is decoded without its model, and answered alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tailrace.core.limits import IDS_PER_REQUEST_MAX
from tests.support.websocket_client import JSON, MSGPACK, Client


def consumer(subprotocol: str) -> Client:
    client = Client(subprotocol=subprotocol)
    client.create_group("s")
    client.append("s", *range(1, 41))
    client.ok(op="consume", group="g", consumer="c", streams=[{"key": "s"}], credit=100, on_close="nack")
    return client


@pytest.mark.parametrize("subprotocol", [JSON, MSGPACK])
@pytest.mark.parametrize(
    "ids",
    [
        ["1-0"],
        [f"{number}-0" for number in range(1, 31)],
        [f"5-{number}" for number in range(30)],
        ["1-0", "1-0", "99-9", "7"],
        ["01-0"],
        [],
        [""],
        ["1-0", "x"],
        ["-"],
        [7],
        "1-0",
        None,
        {"1-0": 1},
        ["1-0"] * (IDS_PER_REQUEST_MAX + 1),
    ],
    ids=lambda ids: str(ids)[:30],
)
def test_an_ack_is_answered_as_one_that_names_its_default(subprotocol: str, ids: Sequence[Any]) -> None:
    plain, named = consumer(subprotocol), consumer(subprotocol)
    for request_id in (3, "three", None):
        request = {"id": request_id, "op": "ack", "key": "s", "group": "g", "ids": ids}
        assert plain.say(request) == named.say({**request, "delete": False})
    assert plain.session.unsettled.questions() == named.session.unsettled.questions()


@pytest.mark.parametrize(
    "wrong", [{"key": ""}, {"group": "nobody"}, {"key": "missing"}, {"key": 5}, {"more": 1}]
)
def test_a_wrong_ack_is_answered_as_one_that_names_its_default(wrong: dict[str, Any]) -> None:
    plain, named = consumer(JSON), consumer(JSON)
    request = {"id": 1, "op": "ack", "key": "s", "group": "g", "ids": ["1-0"], **wrong}
    assert plain.say(request) == named.say({**request, "delete": False})
