"""`tailrace cli` prints the same for a line as `redis-cli` with a `redis-server`."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from typing import TypeAlias

import pytest

from tests.cli.shell import shell
from tests.support.redis_server import RedisServer, find_redis_server, required
from tests.support.seeds import seeds
from tests.support.server_process import ServerProcess, running_server

Both: TypeAlias = Callable[[str, bytes], tuple[bytes, bytes]]

LINES = rb"""
PING
PING "hello \"you\"\n\x00\xff"
ECHO 'single \'quoted\' \n'
XADD s 1-1 a 1 b "two words"
XADD s 1-2 a "\xff\xfe" "\xc3\xa9" ""
XADD s 1-1 a 1
XLEN s
XRANGE s - +
XRANGE s - + COUNT 0
XRANGE nosuch - +
XGROUP CREATE s g 0
XGROUP CREATE s g 0
XREADGROUP GROUP g c COUNT 1 STREAMS s >
XPENDING s g
XREAD COUNT 2 STREAMS s 0
XREAD STREAMS s $
TYPE s
TYPE nosuch
XADD s * odd
NOSUCH foo
ECHO "unbalanced
ECHO a"b"c
MULTI
XLEN s
XRANGE s - +
PING
EXEC
EXEC
DISCARD
MULTI
MULTI
XLEN
EXEC
MULTI
XADD s 5-0 a b
DISCARD
XLEN s
XINFO GROUPS s
EXISTS s nosuch
DEL s
"""
MANY = b"".join(b"XADD many 1-%d f v\n" % number for number in range(1, 112)) + b"XRANGE many - +\nDEL many\n"


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    """Types lines to both, each with a server of its own; what each printed."""
    executable, redis_cli = find_redis_server(), shutil.which("redis-cli")
    if executable is None or redis_cli is None:
        reason = "redis-server and redis-cli are not installed (Debian: apt-get install redis-server)"
        if required():
            pytest.fail(reason)
        pytest.skip(reason)
    directory = tmp_path_factory.mktemp("both")
    with RedisServer(executable, directory) as redis, running_server(directory) as ours:
        yield lambda option, lines: (_theirs(redis_cli, redis, option, lines), _ours(ours, option, lines))


def _theirs(redis_cli: str, server: RedisServer, option: str, lines: bytes) -> bytes:
    command = [redis_cli, "-s", str(server._path), *option.split()]
    return subprocess.run(command, input=lines, capture_output=True, check=True, timeout=60).stdout


def _ours(server: ServerProcess, option: str, lines: bytes) -> bytes:
    return shell(server.base_url, "cli", *option.split(), stdin=lines).stdout


@pytest.mark.parametrize("option", ["--no-raw", "--raw"])
@pytest.mark.parametrize("lines", [LINES, MANY], ids=["all kinds of replies", "a long list"])
def test_replies_are_printed_as_redis_cli_prints_them(both: Both, option: str, lines: bytes) -> None:
    theirs, ours = both(option, lines)
    assert ours == theirs


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        ("--no-raw -r 3 -i 0.01 PING", b""),
        ("--raw -x ECHO", b"two\nlines\n"),
        ("--no-raw", b"2 PING\n2 ECHO 3\nECHO 2\n"),
        ("--no-raw 2 PING", b""),
    ],
)
def test_repetitions_and_standard_input_are_as_in_redis_cli(both: Both, options: str, lines: bytes) -> None:
    theirs, ours = both(options, lines)
    assert ours == theirs


@pytest.mark.parametrize("seed", seeds(3))
def test_random_lines_are_cut_into_the_same_words(both: Both, seed: int) -> None:
    chance = random.Random(seed)
    alphabet = [b'"', b"'", b"\\", b" ", b"x41", b"n", b"a", b"\t", b"\xc3\xa9", b"\xff"]
    lines = [b"ECHO " + b"".join(chance.choices(alphabet, k=chance.randrange(1, 9))) for _ in range(150)]
    theirs, ours = both("--no-raw", b"\n".join(lines) + b"\n")
    assert ours == theirs, f"seed {seed}"
