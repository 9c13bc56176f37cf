"""`tailrace migrate --follow`: the target keeps up until the switch, and then is equal."""

from __future__ import annotations

import signal
from functools import partial
from pathlib import Path

from tests.cli.shell import WITHIN_S
from tests.migrate.places import End, migrated
from tests.migrate.test_restarts import has_entries, started, wait_until


def test_what_happens_while_following_is_in_the_target_after_ctrl_c(
    redis_8: End, tailrace: End, tmp_path: Path
) -> None:
    redis_8.fill([["XADD", "follow:a", f"{n}-0", "n", str(n)] for n in range(1, 50)])
    redis_8.fill([["XADD", "follow:gone", "1-0", "a", "b"], ["XADD", "follow:again", "9-9", "a", "b"]])
    redis_8.fill([["XGROUP", "CREATE", "follow:a", "g", "0"]])
    with started(redis_8, tailrace, "--keys", "follow:*", "--follow", directory=tmp_path) as process:
        assert process.stdout is not None
        while not process.stdout.readline().startswith("following"):
            assert process.poll() is None, process.communicate()
        redis_8.fill(
            [
                ["XADD", "follow:a", "100-0", "n", "100"],
                ["XREADGROUP", "GROUP", "g", "c", "COUNT", 20, "STREAMS", "follow:a", ">"],
                ["XACK", "follow:a", "g", "3-0", "4-0"],
                ["XDEL", "follow:a", "5-0", "30-0"],
                ["XTRIM", "follow:a", "MINID", "3-0"],
                ["XADD", "follow:new", "5-0", "a", "b"],
                ["DEL", "follow:gone", "follow:again"],
                ["XADD", "follow:again", "1-1", "a", "c"],
            ]
        )
        wait_until(partial(has_entries, tailrace, "follow:new", 1), "the new stream arrives")
        redis_8.fill([["XADD", "follow:a", "101-0", "n", "101"], ["XDEL", "follow:a", "100-0"]])
        wait_until(lambda: tailrace.run("XRANGE", "follow:a", "101-0", "101-0") != [], "the entry arrives")
        process.send_signal(signal.SIGINT)
        printed, said = process.communicate(timeout=WITHIN_S)
    assert process.returncode == 0, said
    assert printed.splitlines()[-1].endswith("equal")
    for key in ("follow:a", "follow:new", "follow:again"):
        assert tailrace.state(key) == redis_8.state(key)
    assert tailrace.state("follow:gone") is None


def test_following_ends_by_itself_when_the_source_is_quiet(
    redis_8: End, tailrace: End, tmp_path: Path
) -> None:
    redis_8.fill([["XADD", "quiet", "1-0", "a", "b"]])
    options = ("--keys", "quiet", "--follow", "--until-quiet", "0")
    assert "followed" in migrated(redis_8, tailrace, *options, directory=tmp_path)
    assert tailrace.state("quiet") == redis_8.state("quiet")
