"""Every seed, and random changes of it, through every target. `make fuzz` is the long run.

The long run is `make fuzz`. Another seed of chance: `TESTS_FUZZ_SEED=n`; more of it:
`TESTS_FUZZ_MUTATIONS=n` for each input.
"""

from __future__ import annotations

import os
from random import Random
from typing import Final

import pytest

from tests.fuzz.seeds import SEEDS, WORDS
from tests.fuzz.targets import TARGETS

SEED: Final = int(os.environ.get("TESTS_FUZZ_SEED", "17"))
MUTATIONS: Final = int(os.environ.get("TESTS_FUZZ_MUTATIONS", "20"))
NASTY: Final = (b"\xff", b"\x00", b"\xc3\x28", b'"', b"[", b"}", b"9" * 40, b"-1", b"*", b" ", b"\r\n")


def mutated(seed: bytes, chance: Random) -> bytes:
    """A few bytes replaced, cut out, doubled, or something nasty put in."""
    data = bytearray(seed)
    for _ in range(chance.randint(1, 4)):
        begin = chance.randrange(len(data) + 1)
        end = min(len(data), begin + chance.choice((0, 1, 1, 4, 20)))
        word = chance.choice(WORDS).encode()
        data[begin:end] = chance.choice((b"", bytes(data[begin:end]) * 2, chance.choice(NASTY), word))
    return bytes(data)


def test_every_target_has_seeds() -> None:
    assert set(SEEDS) == set(TARGETS)


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_holds_whatever_chance_makes_of_its_seeds(name: str) -> None:
    chance = Random(f"{name} {SEED}")
    inputs = [b"", *SEEDS[name]]
    inputs += [mutated(seed, chance) for seed in SEEDS[name] for _ in range(MUTATIONS)]
    print(f"{name}: {len(inputs)} inputs, seed {SEED}")  # noqa: T201 - shown where one fails
    for data in inputs:
        try:
            TARGETS[name].run(data)
        except Exception as find:
            find.add_note(f"input: {data[:2_000]!r}")
            raise
