"""The comparison itself: it detects a wrong reply, and it shortens a failing program."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Final

import hiredis
import pytest

from tests.differential.generator import Generator
from tests.differential.harness import FAREWELL, OPENING, commands_of
from tests.differential.replies import Near
from tests.differential.shrink import as_text, shrink
from tests.differential.versions import REDIS_8_10, VERSIONS, Peer, Version
from tests.differential.vocabulary import Program, Words

PROGRAM: Program = [
    ([b"XADD", b"s", b"1", b"f", b"v"],),
    ([b"XGROUP", b"CREATE", b"s", b"g", b"0"],),
    ([b"XREADGROUP", b"GROUP", b"g", b"alice", b"STREAMS", b"s", b">"],),
    ([b"XPENDING", b"s", b"g", b"-", b"+", b"10"],),
]


COMMANDS: Final = frozenset(
    {
        *(b"XADD", b"XTRIM", b"XDEL", b"XSETID", b"XLEN", b"XRANGE", b"XREVRANGE", b"XREAD", b"XREADGROUP"),
        *(b"XGROUP CREATE", b"XGROUP SETID", b"XGROUP DESTROY"),
        *(b"XGROUP CREATECONSUMER", b"XGROUP DELCONSUMER"),
        *(b"XACK", b"XPENDING", b"XCLAIM", b"XAUTOCLAIM"),
        *(b"XINFO STREAM", b"XINFO GROUPS", b"XINFO CONSUMERS"),
    }
)
LATER_COMMANDS: Final = COMMANDS | {b"XDELEX", b"XACKDEL", b"XNACK", b"XCFGSET", b"COPY", b"XIDMPRECORD"}
LATER_OPTIONS: Final = frozenset(
    {
        *((b"XADD", word) for word in (b"IDMP", b"IDMPAUTO", b"KEEPREF", b"DELREF", b"ACKED")),
        *((b"XREADGROUP", word) for word in (b"CLAIM", b"MAXCOUNT", b"MAXSIZE")),
        *((b"XREAD", word) for word in (b"MAXCOUNT", b"MAXSIZE", b"+")),
        *((b"XTRIM", word) for word in (b"DELREF", b"ACKED")),
    }
)


def name_of(words: Words) -> bytes:
    """The name of a command, with its subcommand."""
    first = words[0].upper()
    return b" ".join(words[:2]).upper() if first in {b"XGROUP", b"XINFO"} else first


def test_random_programs_meet_every_command_with_success_and_with_refusal(peer: Peer) -> None:
    served: Counter[bytes] = Counter()
    refused: Counter[bytes] = Counter()
    options: Counter[tuple[bytes, bytes]] = Counter()
    for seed in range(300):
        commands = commands_of([*OPENING, *peer.program(seed, 60)])
        for words, reply in zip(commands, peer.server.run_all(commands), strict=True):
            if isinstance(reply, hiredis.ReplyError):
                refused[name_of(words)] += 1
            else:
                served[name_of(words)] += 1
                options.update({(name_of(words), word.upper()) for word in words})
    is_later = peer.version is REDIS_8_10
    commands_wanted = LATER_COMMANDS if is_later else COMMANDS
    assert min(served[name] for name in commands_wanted) > 20
    assert min(refused[name] for name in commands_wanted) > 0
    assert not is_later or min(options[option] for option in LATER_OPTIONS) > 20


def test_what_nobody_changed_is_the_same(peer: Peer) -> None:
    assert peer.first_difference(PROGRAM) is None


@pytest.mark.parametrize("index", range(len(OPENING) + len(PROGRAM) + len(FAREWELL)))
def test_a_wrong_answer_is_seen_wherever_it_is(peer: Peer, index: int) -> None:
    commands = commands_of([*OPENING, *PROGRAM, *FAREWELL])
    replies = peer.server.run_all(commands)
    replies[index] = hiredis.ReplyError("ERR another answer")
    difference = peer.version.comparison(commands, replies).run()
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


@pytest.mark.parametrize("version", VERSIONS, ids=[version.name for version in VERSIONS])
def test_the_same_seed_gives_the_same_program(version: Version) -> None:
    assert version.generator(Random(3)).program(60) == version.generator(Random(3)).program(60)
