"""The versions of Redis to compare with: the programs of each, the server, the allowed differences."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Final

from tests.differential.generator import Generator
from tests.differential.harness import FAREWELL, OPENING, Comparison, Difference, commands_of
from tests.differential.later_generator import LaterGenerator
from tests.differential.redis_7_0 import Comparison70
from tests.differential.redis_8_10 import Comparison810
from tests.differential.vocabulary import Program
from tests.support.redis_server import RedisServer, find_redis_8_10, find_redis_server


@dataclass(frozen=True)
class Version:
    """One version of Redis; `missing` says how to install it."""

    name: str
    executable: str | None
    missing: str
    generator: type[Generator]
    comparison: type[Comparison]


@dataclass(frozen=True)
class Peer:
    """A running server of that version."""

    version: Version
    server: RedisServer

    def program(self, seed: int, steps: int) -> Program:
        """The random program of that seed: the same one at each call."""
        return self.version.generator(Random(seed)).program(steps)

    def first_difference(self, program: Program) -> Difference | None:
        """None if the engine and the server give the same reply."""
        commands = commands_of([*OPENING, *program, *FAREWELL])
        return self.version.comparison(commands, self.server.run_all(commands)).run()


REDIS_7_0: Final = Version(
    "7.0.15",
    find_redis_server(),
    "redis-server is not installed (Debian: apt-get install redis-server)",
    Generator,
    Comparison70,
)
REDIS_8_10: Final = Version(
    "8.10.2",
    find_redis_8_10(),
    "Redis 8.10.2 is not built (make build/redis-8.10.2/redis-server)",
    LaterGenerator,
    Comparison810,
)
VERSIONS: Final = (REDIS_7_0, REDIS_8_10)
