"""KEYS finds the same keys as Redis, for random patterns and keys."""

from __future__ import annotations

import random
from typing import Final

import pytest

from tailrace.core.glob import compile_glob
from tests.differential.versions import Peer
from tests.support.seeds import seeds

PATTERN_BYTES: Final = b"aaabb-c]\\^**?[[\xff\n.$("
KEY_BYTES: Final = b"aabbc-]\\^*?[\xff\xfe\n."


def words(chance: random.Random, alphabet: bytes, count: int, longest: int) -> list[bytes]:
    return [bytes(chance.choices(alphabet, k=chance.randint(1, longest))) for _ in range(count)]


@pytest.mark.parametrize("seed", seeds(20))
def test_a_random_pattern_finds_the_keys_that_redis_finds(peer: Peer, seed: int) -> None:
    server, chance = peer.server, random.Random(seed)
    keys = set(words(chance, KEY_BYTES, 200, 6))
    patterns = words(chance, PATTERN_BYTES, 500, 9)
    server.run("FLUSHALL")
    server.run_all([[b"SET", key, b"1"] for key in keys])
    try:
        found = server.run_all([[b"KEYS", pattern] for pattern in patterns])
    finally:
        server.run("FLUSHALL")
    for pattern, expected in zip(patterns, found, strict=True):
        assert isinstance(expected, list)
        glob = compile_glob(pattern)
        matching = {key for key in keys if glob.matches(key)}
        assert matching == set(expected), pattern
        assert all(key.startswith(glob.literal_prefix) for key in matching), pattern
