"""The comparison itself: that it sees a wrong answer, and that a failing program becomes small."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Final

import hiredis
import pytest

from tests.differential.differences import Near
from tests.differential.generator import Generator
from tests.differential.harness import FAREWELL, OPENING, Comparison, commands_of, first_difference
from tests.differential.shrink import as_text, shrink
from tests.differential.vocabulary import Program
from tests.support.redis_server import RedisServer

PROGRAM: Program = [
    ([b"XADD", b"s", b"1", b"f", b"v"],),
    ([b"XGROUP", b"CREATE", b"s", b"g", b"0"],),
    ([b"XREADGROUP", b"GROUP", b"g", b"alice", b"STREAMS", b"s", b">"],),
    ([b"XPENDING", b"s", b"g", b"-", b"+", b"10"],),
]


COMMANDS: Final = frozenset(
    {
        *(b"XADD", b"XTRIM", b"XDEL", b"XSETID", b"XLEN", b"XRANGE", b"XREVRANGE", b"XREAD", b"XREADGROUP"),
        *(
            b"XGROUP CREATE",
            b"XGROUP SETID",
            b"XGROUP DESTROY",
            b"XGROUP CREATECONSUMER",
            b"XGROUP DELCONSUMER",
        ),
        *(
            b"XACK",
            b"XPENDING",
            b"XCLAIM",
            b"XAUTOCLAIM",
            b"XINFO STREAM",
            b"XINFO GROUPS",
            b"XINFO CONSUMERS",
        ),
    }
)


def test_random_programs_meet_every_command_with_success_and_with_refusal(redis_server: RedisServer) -> None:
    served: Counter[bytes] = Counter()
    refused: Counter[bytes] = Counter()
    for seed in range(300):
        commands = commands_of([*OPENING, *Generator(Random(seed)).program(60)])
        for words, reply in zip(commands, redis_server.run_all(commands), strict=True):
            name = (
                b" ".join(words[:2]).upper()
                if words[0].upper() in {b"XGROUP", b"XINFO"}
                else words[0].upper()
            )
            (refused if isinstance(reply, hiredis.ReplyError) else served)[name] += 1
    assert min(served[name] for name in COMMANDS) > 20
    assert min(refused[name] for name in COMMANDS) > 0


def test_what_nobody_changed_is_the_same(redis_server: RedisServer) -> None:
    assert first_difference(redis_server, PROGRAM) is None


@pytest.mark.parametrize("index", range(len(OPENING) + len(PROGRAM) + len(FAREWELL)))
def test_a_wrong_answer_is_seen_wherever_it_stands(redis_server: RedisServer, index: int) -> None:
    commands = commands_of([*OPENING, *PROGRAM, *FAREWELL])
    replies = redis_server.run_all(commands)
    replies[index] = hiredis.ReplyError("ERR another answer")
    difference = Comparison(commands, replies).run()
    assert difference is not None
    assert difference.index == index


def test_times_agree_within_the_tolerance_only() -> None:
    assert Near(1_000) == Near(5_000)
    assert Near(1_000) != Near(50_000)
    assert Near(1_000) != 1_000


def test_a_program_shrinks_to_the_steps_that_it_takes() -> None:
    program = Generator(Random(7)).program(60)
    wanted = [program[11], program[29], program[48]]

    def fails(candidate: Program) -> bool:
        return all(any(step is kept for kept in candidate) for step in wanted)

    assert shrink(program, fails) == wanted


def test_a_program_is_printed_as_it_would_be_typed() -> None:
    assert as_text([[b"XADD", b"", b"a b", b"\xff"]]) == "XADD '' 'a b' '\\xff'"


def test_the_same_seed_gives_the_same_program() -> None:
    assert Generator(Random(3)).program(60) == Generator(Random(3)).program(60)
