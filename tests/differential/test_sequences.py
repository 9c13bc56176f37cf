"""The engine replies to every hand-written sequence as Redis does."""

from __future__ import annotations

import pytest

from tests.differential.later_sequences import LATER_SEQUENCES
from tests.differential.probes import consumer_probes
from tests.differential.sequences import SEQUENCES
from tests.differential.test_random_programs import report
from tests.differential.versions import REDIS_8_10, Peer
from tests.differential.vocabulary import Program


def program(text: str) -> Program:
    """The steps written in `text`."""
    commands = [line.split() for line in text.splitlines() if line.strip()]
    steps = [[b"" if word == "''" else word.encode() for word in words] for words in commands]
    return [(words, *consumer_probes(words)) for words in steps]


@pytest.mark.parametrize("text", SEQUENCES.values(), ids=SEQUENCES.keys())
def test_a_sequence_gets_the_answers_of_redis(peer: Peer, text: str) -> None:
    steps = program(text)
    assert peer.first_difference(steps) is None, report(peer, steps, "by hand")


@pytest.mark.parametrize("peer", [REDIS_8_10], indirect=True, ids=[REDIS_8_10.name])
@pytest.mark.parametrize("text", LATER_SEQUENCES.values(), ids=LATER_SEQUENCES.keys())
def test_a_later_sequence_gets_the_answers_of_redis_8_10(peer: Peer, text: str) -> None:
    steps = program(text)
    assert peer.first_difference(steps) is None, report(peer, steps, "by hand")
