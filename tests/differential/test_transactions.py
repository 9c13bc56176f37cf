"""The engine and Redis 8.10.2 give the same replies to random transactions: what MULTI refuses to queue, and
what fails in its place while the other commands run.

The programs are those of `test_random_programs`; a step is a whole transaction. The test
runs a fortieth of `TESTS_DIFFERENTIAL_COMMANDS`, from `TESTS_DIFFERENTIAL_SEED` on.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, Final

import hiredis
import pytest

from tailrace.core.errors import StreamError
from tailrace.core.grammar import Request
from tailrace.core.invariants import check
from tailrace.core.parser import parse_queued
from tailrace.core.stream_id import id_ms, parse_id
from tests.differential.harness import FAREWELL, OPENING, Difference, as_bytes, commands_of, without_raw_words
from tests.differential.redis_8_10 import Comparison810
from tests.differential.replies import TIME_TOLERANCE_MS, Refusal, Reply, comparable
from tests.differential.shrink import as_text, shrink
from tests.differential.test_random_programs import COMMANDS, FIRST_SEED, STEPS_PER_PROGRAM
from tests.differential.versions import REDIS_8_10, Peer
from tests.differential.vocabulary import Program, Step
from tests.support.redis_server import Value

LONGEST: Final = 6

BY_HAND: Final = {
    "a wrong argument between two appends": "XADD s 1 f v / XTRIM s MAXLEN -1 / XADD s 2 f v",
    "an odd number of fields": "XADD s 1 f v / XADD s 2 f v g / XADD s 3 f v",
    "an unknown command": "XADD s 1 f v / XWHAT s / XADD s 2 f v",
    "an unknown subcommand": "XADD s 1 f v / XGROUP WHAT s / XADD s 2 f v",
    "a subcommand that is missing": "XADD s 1 f v / XINFO / XADD s 2 f v",
    "too few words": "XADD s 1 f v / XTRIM s / XADD s 2 f v",
    "too many words": "XADD s 1 f v / XLEN s t / XADD s 2 f v",
    "too many words that Redis counts later": "XADD s 1 f v / PING a b / XADD s 2 f v",
    "a group that is missing": "XADD s 1 f v / XREADGROUP GROUP g alice STREAMS s > / XGROUP CREATE s g 0",
}


pytestmark = pytest.mark.parametrize("peer", [REDIS_8_10], indirect=True, ids=[REDIS_8_10.name])


class TransactionComparison(Comparison810):
    """Transactions on a fresh engine, against the answers of Redis: the replies of EXEC, or the first error
    with which MULTI refused to queue a command."""

    def __init__(self, program: Program, answers: Sequence[Value], started_ms: int) -> None:
        super().__init__([], [])
        self._started_ms = started_ms
        self._program = program
        self._answers = answers

    def run(self) -> Difference | None:
        for step, answer in zip(self._program, self._answers, strict=True):
            for number, (ours, theirs) in enumerate(self._pairs(step, answer)):
                if self.ends(step[number], ours):
                    return None
                if ours != theirs:
                    return Difference(number, step[number], ours, theirs)
        check(self._engine.keyspace)
        return None

    def _pairs(self, step: Step, answer: Value) -> Iterator[tuple[Reply, Reply]]:
        self.before(step[0])
        ours = self._replies(step, answer)
        if isinstance(ours, Refusal) or isinstance(answer, hiredis.ReplyError):
            index = next((at for at, words in enumerate(step) if _refused(words) is not None), 0)
            yield ours, self._their_reply(step[index], answer)
            return
        assert isinstance(answer, list)
        for words, our_reply, their_reply in zip(step, ours, answer, strict=True):
            shown = self._their_reply(words, their_reply)
            yield comparable(words, our_reply, self.omitted), comparable(words, shown, self.omitted)

    def _replies(self, step: Step, answer: Value) -> Refusal | list[Reply]:
        for words in step:
            refusal = _refused(words)
            if refusal is not None:
                return Refusal(without_raw_words(words, refusal.line))
        queued = [parse_queued(words) for words in step]
        commands = [each.command for each in queued if isinstance(each, Request) and each.command]
        replies = iter(self._engine.execute_all(commands, self._instant(step, answer))[0])
        return [_shown(each, words, replies) for each, words in zip(queued, step, strict=True)]

    def _instant(self, step: Step, answer: Value) -> int:
        """The time of the transaction: no earlier than an id that Redis took from its clock."""
        replies = answer if isinstance(answer, list) else []
        for words, reply in zip(step, replies, strict=False):
            if words[0].upper() == b"XADD" and isinstance(reply, bytes):
                at_ms = id_ms(parse_id(reply))
                if 0 < at_ms - self._started_ms < TIME_TOLERANCE_MS:
                    self._started_ms = at_ms
        return self._started_ms


def _refused(words: Sequence[bytes]) -> StreamError | None:
    try:
        parse_queued(words)
    except StreamError as error:
        return error
    return None


def _shown(queued: Request | StreamError, words: list[bytes], replies: Iterator[Any]) -> Reply:
    outcome = next(replies) if isinstance(queued, Request) and queued.command else queued
    if isinstance(outcome, StreamError):
        return Refusal(without_raw_words(words, outcome.line))
    assert isinstance(queued, Request)
    return as_bytes(queued.to_resp(None if outcome is queued else outcome))


def answers_of(peer: Peer, program: Program) -> list[Value]:
    """The answer of Redis to each transaction: the replies, or the first error of a command that was not
    queued."""
    sent = peer.server.run_all([words for step in program for words in ([b"MULTI"], *step, [b"EXEC"])])
    answers: list[Value] = []
    place = 0
    for step in program:
        queued, executed = sent[place + 1 : place + 1 + len(step)], sent[place + 1 + len(step)]
        errors = [each for each in queued if isinstance(each, hiredis.ReplyError)]
        assert bool(errors) == str(executed).startswith("EXECABORT"), (step, executed)
        answers.append(errors[0] if errors else executed)
        place += len(step) + 2
    return answers


def first_difference(peer: Peer, steps: Program) -> Difference | None:
    program = [*OPENING, *steps, *FAREWELL]
    started_ms = int(time.time() * 1000)
    return TransactionComparison(program, answers_of(peer, program), started_ms).run()


def in_transactions(program: Program, random: Random) -> Program:
    """The same commands in transactions. A trim by MINID is alone: `Comparison810` looks at the blocks before
    it."""
    steps: Program = []
    for words in commands_of(program):
        is_alone = b"MINID" in [word.upper() for word in words]
        if not steps or is_alone or random.randrange(LONGEST) == 0:
            steps.append((words,))
        else:
            steps[-1] = (*steps[-1], words)
        if is_alone:
            steps.append(([b"PING"],))
    return steps


def test_random_transactions_get_the_answers_of_redis(peer: Peer) -> None:
    compared, seed = 0, FIRST_SEED
    while compared < COMMANDS // 40:
        steps = in_transactions(peer.program(seed, STEPS_PER_PROGRAM), Random(seed))
        if first_difference(peer, steps) is not None:
            pytest.fail(report(peer, steps, seed))
        compared += len(commands_of(steps))
        seed += 1


@pytest.mark.parametrize("text", BY_HAND.values(), ids=BY_HAND)
def test_a_transaction_with_a_failing_command_gets_the_answers_of_redis(peer: Peer, text: str) -> None:
    step = tuple([word.encode() for word in line.split()] for line in text.split("/"))
    found = first_difference(peer, [step])
    assert found is None, report(peer, [step], "by hand")


def report(peer: Peer, steps: Program, seed: int | str) -> str:
    small = shrink(steps, lambda candidate: first_difference(peer, candidate) is not None)
    found = first_difference(peer, small)
    assert found is not None, f"seed {seed}: failed once and not again"
    text = "\n".join(as_text([[b"MULTI"], *step, [b"EXEC"]]) for step in small)
    return (
        f"seed {seed}\n{text}\nthen    {as_text([found.words])}\nours    {found.ours}\ntheirs  {found.theirs}"
    )
