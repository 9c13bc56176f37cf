"""Every transcript of the guide, the references and the article, over the grammar and over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import httpx
import pytest

from tests.seeds import guide, references
from tests.seeds.story import Step
from tests.support.api_client import ApiClient
from tests.support.redis_like import R, as_map

STORIES: Final[dict[str, Sequence[Step]]] = {
    "the race in France": guide.FRANCE,
    "the race in the USA, with ids of its own": guide.USA,
    "two races read at once": guide.TWO_RACES,
    "the race in Italy": guide.ITALY,
    "seven messages for three consumers": guide.SEVEN_MESSAGES,
    "deleted while pending": references.DELETED_WHILE_PENDING,
    "NOACK is an ack on reading": references.NOACK_IS_AN_ACK_ON_READING,
    "fetching again counts": references.FETCHING_AGAIN_COUNTS,
    "the loop of a worker": references.WORKER_LOOP,
    "claimed after 15 seconds": references.CLAIMED_AFTER_15_SECONDS,
    "recovery in three commands": references.LOOP_BEFORE_CLAIM,
    "recovery in one command": references.LOOP_WITH_CLAIM,
}

each_story = pytest.mark.parametrize("story", STORIES.values(), ids=STORIES.keys())


def in_the_shape_of(expected: Any, reply: Any) -> Any:
    """`reply` with its flat maps as dicts where `expected` has dicts."""
    if isinstance(expected, dict):
        return as_map(reply)
    if isinstance(expected, list) and expected and isinstance(expected[0], dict):
        return [as_map(row) for row in reply]
    return reply


@each_story
def test_the_engine_answers_as_the_transcript_shows(story: Sequence[Step]) -> None:
    r = R(now_ms=0)
    for step in story:
        r.now_ms = r.now_ms if step.at_ms is None else step.at_ms
        assert in_the_shape_of(step.reply, r.line(step.words)) == step.reply, step.words


@each_story
def test_the_command_endpoint_answers_as_the_transcript_shows(story: Sequence[Step]) -> None:
    api = ApiClient()
    api.store.now_ms = 0
    for step in story:
        api.store.now_ms = api.store.now_ms if step.at_ms is None else step.at_ms
        body = api.post("/v1/command", step.words.split()).json()
        answer = body["result"] if "result" in body else body["error"]
        assert in_the_shape_of(step.reply, answer) == step.reply, step.words


KEYS: Final = frozenset({"race:france", "race:italy", "race:usa", "somekey", "mystream"})
WITHOUT_A_CLOCK: Final = (
    "the race in France",
    "the race in the USA, with ids of its own",
    "two races read at once",
    "seven messages for three consumers",
    "deleted while pending",
    "NOACK is an ack on reading",
)


@pytest.mark.parametrize("name", WITHOUT_A_CLOCK)
def test_a_running_server_answers_as_the_transcript_shows(base_url: str, name: str) -> None:
    """Under keys of this test's own, and with the transcript's ids given, since the clock is real."""

    def own(part: Any) -> Any:
        if isinstance(part, list):
            return [own(item) for item in part]
        return f"{name}/{part}" if part in KEYS else part

    with httpx.Client(base_url=base_url) as client:
        for step in STORIES[name]:
            words = [step.reply if word == "*" else own(word) for word in step.words.split()]
            body = client.post("/v1/command", json=words).json()
            assert body.get("result", body.get("error")) == own(step.reply), step.words


@pytest.mark.parametrize("command", ["XINFO", "XGROUP"])
def test_help_names_every_subcommand(command: str) -> None:
    lines = "\n".join(R().run(command, "HELP"))
    subcommands = {
        "XINFO": ("CONSUMERS", "GROUPS", "STREAM", "HELP"),
        "XGROUP": ("CREATE", "SETID", "DESTROY"),
    }
    assert lines.startswith(command)
    assert all(name in lines for name in subcommands[command])
