"""Strips: single deliveries that are packed together behave as the singles did, and cost less."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from tailrace.core import commands as c
from tailrace.core.engine import Engine
from tailrace.core.errors import StreamError
from tailrace.core.invariants import check
from tailrace.core.keyspace import Keyspace
from tailrace.core.pending import packing as packing_module
from tailrace.core.pending.strip import Strip
from tailrace.core.storage.state import decode_group, encode_group
from tests.support.engine_calls import FRAGMENT
from tests.unit.test_replay import Program, picture

STEPS: Final = 250
UNPACKED: Final = 10**9


class SmallReads(Program):
    """A program that mostly reads one entry at a time."""

    def append(self) -> c.Command:
        return c.Append(self.key(), [FRAGMENT] * self.random.choice([5, 20]))

    def read(self) -> c.Command:
        if self.random.random() < 0.2:
            return super().read()
        source = c.ReadFrom(self.key(), c.Special.NEW)
        count = self.random.choice([1, 1, 2])
        return c.ReadGroup(self.group(), self.consumer(), (source,), c.ReadLimits(count=count))

    def next(self) -> c.Command:
        return self.read() if self.random.random() < 0.7 else super().next()


def outcome_of(engine: Engine, command: c.Command, now_ms: int) -> Any:
    try:
        return engine.execute(command, now_ms).reply
    except StreamError as error:
        return str(error)


def strips_of(keyspace: Keyspace) -> list[Strip]:
    groups = [group for stream in keyspace.streams.values() for group in stream.groups.values()]
    return [run for group in groups for run in group.pending.runs.values() if isinstance(run, Strip)]


@pytest.fixture
def packing(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, int], None]:
    def set_lengths(length: int, least: int) -> None:
        monkeypatch.setattr(packing_module, "PACK_LENGTH", length)
        monkeypatch.setattr(packing_module, "PACK_LENGTH_MIN", least)

    return set_lengths


@pytest.mark.parametrize("first_seed", range(0, 60, 12))
def test_commands_have_the_same_results_as_without_strips(
    first_seed: int, packing: Callable[[int, int], None]
) -> None:
    assert sum(strips_in_program(seed, packing) for seed in range(first_seed, first_seed + 12))


def strips_in_program(seed: int, packing: Callable[[int, int], None]) -> int:
    """Compare a program with and without strips. Return how many strips there were, after all steps."""
    packing(UNPACKED, UNPACKED)
    plain = Engine()
    program = SmallReads(seed, plain)
    steps: list[tuple[c.Command, int, Any]] = []
    now_ms = 1000
    for _ in range(STEPS):
        now_ms += program.random.choice([0, 0, 1, 5, 100, -3])
        command = program.next()
        steps.append((command, now_ms, outcome_of(plain, command, now_ms)))
    packing(program.random.choice([2, 3, 8]), program.random.choice([1, 2]))
    packed, strips = Engine(), 0
    for command, at_ms, expected in steps:
        assert outcome_of(packed, command, at_ms) == expected, command
        check(packed.keyspace)
        strips += len(strips_of(packed.keyspace))
        for stream in packed.keyspace.streams.values():
            for group in stream.groups.values():
                assert encode_group(decode_group(encode_group(group))) == encode_group(group)
    assert picture(packed.keyspace, now_ms) == picture(plain.keyspace, now_ms)
    return strips
