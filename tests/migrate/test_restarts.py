"""`tailrace migrate`, stopped at any point: the same command continues, and nothing is lost or doubled."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tailrace.app.cli.migrate.addresses import opened
from tailrace.app.cli.migrate.port import CannotMigrate, Entry
from tailrace.core.storage.schema import DirectoryLock
from tests.cli.shell import WITHIN_S, environment
from tests.migrate.places import End, arguments, cluster_end, migrate, migrated
from tests.support.cutting_proxy import CuttingProxy, cutting_proxy
from tests.support.redis_cluster import RedisCluster

ENTRIES = 6_000


def wait_until(holds: Callable[[], bool], what: str) -> None:
    deadline_s = time.monotonic() + WITHIN_S
    while not holds():
        assert time.monotonic() < deadline_s, f"not in time: {what}"
        time.sleep(0.005)


def fill(end: End, key: str) -> None:
    """A stream with two groups whose pending entries have many owners and times."""
    end.fill([["XADD", key, f"{n}-0", "n", str(n), "text", "x" * 50] for n in range(1, ENTRIES + 1)])
    for group in ("g", "h"):
        end.fill([["XGROUP", "CREATE", key, group, "0"]])
        end.fill(
            [
                ["XREADGROUP", "GROUP", group, f"c{n % 7}", "COUNT", 40, "STREAMS", key, ">"]
                for n in range(ENTRIES // 80)
            ]
        )
    end.fill([["XDEL", key, *(f"{n}-0" for n in range(10, ENTRIES, 97))], ["XTRIM", key, "MINID", "21-0"]])


@contextmanager
def started(
    source: End, target: End | Path, *options: str, directory: Path
) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        arguments(source, target, *options),
        cwd=directory,
        env=environment(PYTHONUNBUFFERED="1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("kind", ["redis", "tailrace"])
def test_a_migration_that_is_killed_again_and_again_arrives_completely(
    kind: str, redis_8: End, another_redis_8: End, tailrace: End, tmp_path: Path
) -> None:
    seed = random.SystemRandom().randrange(10**6)
    chance, key = random.Random(seed), f"killed:{kind}"
    target = tailrace if kind == "tailrace" else another_redis_8
    fill(redis_8, key)
    expected = redis_8.state(key)
    for stop_at in sorted(chance.sample(range(ENTRIES // 2), 3)):
        with started(redis_8, target, "--keys", key, directory=tmp_path) as process:
            wait_until(partial(has_entries, target, key, stop_at), "the target grows")
            process.send_signal(signal.SIGKILL)
    migrated(redis_8, target, "--keys", key, directory=tmp_path)
    assert target.state(key) == expected, seed


def test_a_killed_migration_takes_the_server_of_its_directory_with_it(redis_8: End, tmp_path: Path) -> None:
    key, data = "killed:directory", tmp_path / "data"
    redis_8.fill([["XADD", key, f"{n}-0", "n", str(n)] for n in range(1, 100)])
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
        with started(redis_8, data, "--keys", key, "--follow", directory=tmp_path) as process:
            assert process.stdout is not None
            while not (line := process.stdout.readline()).startswith("following"):
                assert line, f"it ended after signal {number}"
            process.send_signal(number)
            process.wait(WITHIN_S)
        if number != signal.SIGKILL:
            assert process.returncode == 128 + number
            DirectoryLock(data).release()
    migrated(redis_8, data, "--keys", key, directory=tmp_path)


def has_entries(end: End, key: str, count: int) -> bool:
    return int(end.run("XLEN", key)) >= count


def test_a_migration_continues_if_its_state_file_is_lost(
    redis_8: End, another_redis_8: End, tmp_path: Path
) -> None:
    redis_8.fill([["XADD", "stateless", f"{n}-0", "n", str(n)] for n in range(1, 300)])
    another_redis_8.fill([["XADD", "stateless", f"{n}-0", "n", str(n)] for n in range(1, 100)])
    printed = migrated(redis_8, another_redis_8, "--keys", "stateless", directory=tmp_path)
    assert "stateless: 299 entries, continues after 99 entries" in printed
    assert another_redis_8.state("stateless") == redis_8.state("stateless")


def through(proxy: CuttingProxy, end: End) -> End:
    return end._replace(address=proxy.url)


def test_appends_whose_responses_are_lost_are_stored_once(
    redis_8: End, tailrace: End, server: Any, tmp_path: Path
) -> None:
    fill(redis_8, "cut:http")
    with cutting_proxy(server.port) as proxy:
        proxy.cut_after(6_000, 0, 900, 1, 5_000, 0, 3_000)
        migrated(redis_8, through(proxy, tailrace), "--keys", "cut:http", directory=tmp_path)
        assert proxy.cuts >= 3
    assert tailrace.state("cut:http") == redis_8.state("cut:http")


def test_a_migration_to_a_cluster_survives_killed_connections(
    redis_8: End, cluster: RedisCluster, in_cluster: End, tmp_path: Path
) -> None:
    fill(redis_8, "cut:cluster")
    with started(redis_8, in_cluster, "--keys", "cut:cluster", directory=tmp_path) as process:
        for wanted in (1, ENTRIES // 3, ENTRIES // 2):
            wait_until(partial(has_entries, in_cluster, "cut:cluster", wanted), "it grows")
            cluster.kill_connections(cluster.master_of("cut:cluster"))
        _, said = process.communicate(timeout=WITHIN_S)
    assert process.returncode == 0, said
    assert in_cluster.state("cut:cluster") == redis_8.state("cut:cluster")


def test_a_batch_that_a_cluster_gets_twice_is_stored_once(in_cluster: End) -> None:
    """A sender whose reply is lost may send the transaction again: its ids refuse it."""
    with opened(in_cluster.address, None, is_target=True, for_writing=True) as place:
        batch = [Entry(number << 64, (b"n", b"%d" % number)) for number in range(1, 50)]
        place.append(b"twice", batch)
        before = in_cluster.state("twice")
        for again in (batch, batch[20:]):
            with pytest.raises(CannotMigrate, match="equal or smaller"):
                place.append(b"twice", again)
        assert in_cluster.state("twice") == before


@pytest.mark.parametrize("stage", ["marked", "moved", "done"])
def test_a_stream_is_copied_into_a_slot_that_moves(
    stage: str, redis_8: End, cluster: RedisCluster, tmp_path: Path
) -> None:
    key = f"moving:{stage}"
    redis_8.fill([["XADD", key, f"{n}-0", "n", str(n)] for n in range(1, 200)])
    redis_8.fill(
        [["XGROUP", "CREATE", key, "g", "0"], ["XREADGROUP", "GROUP", "g", "c", "STREAMS", key, ">"]]
    )
    owner = cluster.master_of(key)
    to = next(node for node in cluster.masters if node is not owner)
    for step in cluster.migrate_slot(cluster.slot_of(key), to):
        if step == stage:
            migrated(redis_8, cluster_end(cluster), "--keys", key, directory=tmp_path)
    assert cluster_end(cluster).state(key) == redis_8.state(key)


def test_a_place_that_is_away_ends_the_command_with_one_sentence(redis_8: End, tmp_path: Path) -> None:
    absent = "redis://127.0.0.1:1"
    for ends in ((absent, redis_8), (redis_8, absent), ("http://127.0.0.1:1", redis_8)):
        done = migrate(*ends, "--retry-for", "0", directory=tmp_path)
        assert done.returncode == 1
        (line,) = [each for each in done.stderr.splitlines() if each]
        assert line.startswith("tailrace: cannot reach")
