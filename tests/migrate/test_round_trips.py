"""`tailrace migrate` between all kinds of places: what arrives is everything that was there.

The states are read in Redis's own words, by XINFO STREAM FULL: ids, entries, counters, groups, consumers, and
pending entries with owner, time and count.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.migrate import large
from tests.migrate.places import End, Word, migrated, odd_streams, tailrace_end
from tests.support.server_process import running_server

RANDOM_STREAMS = 30
RANDOM_COMMANDS = 60


def test_streams_that_go_through_every_kind_of_place_come_back_unchanged(
    redis_8: End, another_redis_8: End, tailrace: End, in_cluster: End, tmp_path: Path
) -> None:
    streams = odd_streams("around", nacks=True)
    for commands in streams.values():
        redis_8.fill(commands)
    expected = {key: redis_8.state(key) for key in streams}
    data = tmp_path / "data"
    for source, target in (
        (redis_8, tailrace),
        (tailrace, in_cluster),
        (in_cluster, data),
        (data, another_redis_8),
    ):
        printed = migrated(source, target, "--keys", "around:*", directory=tmp_path)
        assert printed.splitlines()[-1].endswith("equal")
        if isinstance(target, End):
            assert {key: target.state(key) for key in streams} == expected
    with running_server(tmp_path) as server:
        assert {key: tailrace_end(server.base_url).state(key) for key in streams} == expected
    assert not list(tmp_path.glob(".tailrace-migrate-*"))


def test_streams_of_redis_7_go_to_tailrace_and_back(redis_7: End, tailrace: End, tmp_path: Path) -> None:
    streams = odd_streams("seven", nacks=False)
    for commands in streams.values():
        redis_7.fill(commands)
    expected = {key: redis_7.state(key, old=True) for key in streams}
    migrated(redis_7, tailrace, "--keys", "seven:*", directory=tmp_path)
    assert {key: tailrace.state(key, old=True) for key in streams} == expected
    redis_7.fill([["DEL", key] for key in streams])
    migrated(tailrace, redis_7, "--keys", "seven:*", directory=tmp_path)
    assert {key: redis_7.state(key, old=True) for key in streams} == expected


def test_streams_of_valkey_go_to_a_cluster_of_valkey_to_tailrace_and_back(
    valkey: End, valkey_cluster: End, tailrace: End, tmp_path: Path
) -> None:
    streams = odd_streams("valkey", nacks=False)
    for commands in streams.values():
        valkey.fill(commands)
    expected = {key: valkey.state(key, old=True) for key in streams}
    for source, target in ((valkey, valkey_cluster), (valkey_cluster, tailrace), (tailrace, valkey)):
        if target is valkey:
            valkey.fill([["DEL", key] for key in streams])
        migrated(source, target, "--keys", "valkey:*", directory=tmp_path)
        assert {key: target.state(key, old=True) for key in streams} == expected


def random_command(chance: random.Random, key: str) -> list[Word]:
    """A command on a stream as clients send them; the server may refuse it."""
    ids = [f"{chance.randint(1, 40)}-{chance.randint(0, 1)}" for _ in range(chance.randint(1, 4))]
    group, consumer = chance.choice("gh"), chance.choice("cde")
    names = [chance.choice("ab") if chance.random() < 0.8 else chance.randbytes(3) for _ in range(4)]
    claim = ["FORCE"] if chance.random() < 0.5 else ["RETRYCOUNT", "5"]
    weighted: list[tuple[int, list[Word]]] = [
        (8, ["XADD", key, "*", *names]),
        (6, ["XADD", key, f"{chance.randint(1, 60)}-*", *names]),
        (2, ["XGROUP", "CREATE", key, group, ids[0]]),
        (1, ["XGROUP", "SETID", key, group, ids[0]]),
        (1, ["XGROUP", "DESTROY", key, group]),
        (1, ["XGROUP", "CREATECONSUMER", key, group, consumer]),
        (1, ["XGROUP", "DELCONSUMER", key, group, consumer]),
        (6, ["XREADGROUP", "GROUP", group, consumer, "COUNT", len(ids), "STREAMS", key, ">"]),
        (2, ["XACK", key, group, *ids]),
        (3, ["XCLAIM", key, group, consumer, 0, *ids, "TIME", chance.randint(0, 10**12), *claim]),
        (2, ["XNACK", key, group, "FAIL", "IDS", len(ids), *ids]),
        (2, ["XDEL", key, *ids]),
        (1, ["XTRIM", key, "MAXLEN", chance.randint(0, 30)]),
        (1, ["XCFGSET", key, "IDMP-DURATION", chance.randint(1, 500)]),
    ]
    return chance.choices([words for _, words in weighted], [weight for weight, _ in weighted])[0]


@pytest.mark.parametrize("way", ["redis to tailrace", "tailrace to redis"])
def test_the_state_after_random_commands_arrives(
    way: str, redis_8: End, tailrace: End, tmp_path: Path
) -> None:
    seed = random.SystemRandom().randrange(10**6)
    chance = random.Random(seed)
    source, target = (redis_8, tailrace) if way.startswith("redis") else (tailrace, redis_8)
    prefix = f"random:{way}".replace(" ", "-")
    keys = [f"{prefix}:{number}" for number in range(RANDOM_STREAMS)]
    for key in keys:
        source.fill([["XADD", key, "1-0", "a", "b"]])
        source.run_all([random_command(chance, key) for _ in range(RANDOM_COMMANDS)])
    migrated(source, target, "--keys", f"{prefix}:*", directory=tmp_path)
    for key in keys:
        assert target.state(key) == source.state(key), (seed, key)


def test_a_large_stream_goes_from_redis_to_tailrace_to_a_cluster(capsys: pytest.CaptureFixture[str]) -> None:
    assert large.main(["--entries", "3000", "--pending", "900"]) == 0
    assert capsys.readouterr().out.count("3,000 entries, 3 groups, 900 pending entries: equal") == 2
