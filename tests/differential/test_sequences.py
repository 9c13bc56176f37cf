"""Every answer to a hand-written sequence must be Redis's."""

from __future__ import annotations

import pytest

from tests.differential.harness import first_difference
from tests.differential.probes import consumer_probes
from tests.differential.sequences import SEQUENCES
from tests.differential.test_random_programs import report
from tests.differential.vocabulary import Program
from tests.support.redis_server import RedisServer


def program(text: str) -> Program:
    """The steps written in `text`."""
    commands = [line.split() for line in text.splitlines() if line.strip()]
    steps = [[b"" if word == "''" else word.encode() for word in words] for words in commands]
    return [(words, *consumer_probes(words)) for words in steps]


@pytest.mark.parametrize("text", SEQUENCES.values(), ids=SEQUENCES.keys())
def test_a_sequence_gets_the_answers_of_redis(redis_server: RedisServer, text: str) -> None:
    steps = program(text)
    assert first_difference(redis_server, steps) is None, report(redis_server, steps, "by hand")
