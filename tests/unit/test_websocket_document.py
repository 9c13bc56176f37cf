"""The AsyncAPI document agrees with the server: every op, every example, every frame that is sent."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from tailrace.api.document.asyncapi import asyncapi_document
from tailrace.api.ports import StoreUnavailable
from tailrace.api.websocket.messages import MESSAGES
from tailrace.api.websocket.pushes import greeting
from tailrace.api.websocket.requests import REQUESTS
from tailrace.api.websocket_limits import CloseCode
from tailrace.app import __version__
from tailrace.core.commands import Trim, TrimStream
from tests.support.websocket_client import Client

DOCUMENT: dict[str, Any] = asyncapi_document(__version__)
EXAMPLES: dict[str, Any] = {
    name: message["examples"][0]["payload"]
    for name, message in DOCUMENT["components"]["messages"].items()
    if "examples" in message
}


def test_every_reference_of_the_document_leads_somewhere() -> None:
    def references(part: Any) -> list[str]:
        if isinstance(part, dict):
            here = [part["$ref"]] if isinstance(part.get("$ref"), str) else []
            return here + [found for value in part.values() for found in references(value)]
        return [found for value in part for found in references(value)] if isinstance(part, list) else []

    found = references(DOCUMENT)
    assert found
    for reference in found:
        place: Any = DOCUMENT
        for step in reference.removeprefix("#/").split("/"):
            assert step in place, reference
            place = place[step]


def test_every_close_code_is_documented() -> None:
    documented = DOCUMENT["channels"]["websocket"]["x-close-codes"]
    assert set(documented) == {str(int(code)) for code in CloseCode}


@pytest.mark.parametrize("op", REQUESTS)
def test_the_example_of_every_op_is_carried_out_by_a_session(op: str) -> None:
    client = with_race()
    if op in {"credit", "unsubscribe"}:
        client.say(EXAMPLES["subscribe_request"])
    reply = client.say(EXAMPLES[f"{op}_request"])
    assert "ok" in reply, reply
    MESSAGES["ok"].model_validate(reply)


@pytest.mark.parametrize("name", MESSAGES)
def test_the_example_of_every_message_fits_its_model(name: str) -> None:
    MESSAGES[name].model_validate(EXAMPLES[name])


def test_every_frame_that_a_session_sends_fits_the_model_of_its_kind() -> None:
    client = with_race()
    client.store.run(TrimStream(b"race:france", Trim(max_length=1)))
    frames = [client.decoded(greeting(client.session.codec, "1"))]
    source = {"key": "race:france", "after": "1-0"}
    frames.append(client.say({"id": 1, "op": "subscribe", "streams": [source], "credit": 10}))
    frames.append(client.say({**EXAMPLES["consume_request"], "id": 2}))
    frames.append(client.say({"id": 3, "op": "nonsense"}))
    frames.append(client.say({"op": "ping"}))
    client.store.close(StoreUnavailable("over"))
    frames += client.taken_pushes()
    assert {kind_of(frame) for frame in frames} == set(MESSAGES)


def kind_of(frame: Any) -> str:
    """The one kind of message that the frame is."""
    kinds = []
    for name, model in MESSAGES.items():
        try:
            model.model_validate(frame)
        except ValidationError:
            continue
        kinds.append(name)
    assert len(kinds) == 1, frame
    return kinds[0]


def with_race() -> Client:
    """The race of the guide, with a group that was given its first entry."""
    client = Client()
    client.create_group("race:france", "judges")
    for value in (1, 2, 3):
        client.append("race:france", value, rider="Castilla")
    words = ["XREADGROUP", "GROUP", "judges", "bob", "COUNT", "1", "STREAMS", "race:france", ">"]
    client.ok(op="command", command=words)
    return client
