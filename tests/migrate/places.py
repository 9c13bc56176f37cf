"""Ends of migrations for tests: a Redis, a Cluster or a Tailrace server, each asked in Redis's words.

It reads the whole state of a stream on its own, without the code under test.
"""

from __future__ import annotations

import os
import subprocess
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import hiredis
import httpx

from tests.cli.shell import WITHIN_S, environment
from tests.support.redis_cluster import RedisCluster
from tests.support.redis_server import RedisServer
from tests.support.server_process import TAILRACE

Word = bytes | str | int

_NO_FACTS: Final = frozenset(
    # Nodes of the tree; times that no command sets; memory that no command reads.
    [
        "radix-tree-keys",
        "radix-tree-nodes",
        "recorded-first-entry-id",
        "seen-time",
        "active-time",
        "pids-tracked",
        "iids-tracked",
        "iids-added",
        "iids-duplicates",
    ]
)
_LATER_FACTS: Final = frozenset(["idmp-duration", "idmp-maxsize", "nacked-count", "lag"])
"""What Redis 7.0 does not show, or counts in another way."""


class End(NamedTuple):
    """One end. `address`: as an argument of the command. `run`: runs one command there. `run_all`: runs
    many."""

    address: str
    run: Callable[..., Any]
    run_all: Callable[[Sequence[Sequence[Word]]], list[Any]]

    def fill(self, commands: Sequence[Sequence[Word]]) -> None:
        """Run commands that must succeed."""
        refused = [reply for reply in self.run_all(commands) if isinstance(reply, Exception)]
        assert not refused

    def state(self, key: Word, *, old: bool = False) -> Any:
        """Everything about a stream; None if it does not exist. `old`: without what Redis 7.0 does not
        show."""
        if not self.run("EXISTS", key):
            return None
        facts = _named(self.run("XINFO", "STREAM", key, "FULL", "COUNT", 0))
        return _without(facts, _NO_FACTS | _LATER_FACTS if old else _NO_FACTS)


def redis_end(server: RedisServer) -> End:
    def run_all(commands: Sequence[Sequence[Word]]) -> list[Any]:
        return server.run_all([[_word(word) for word in words] for words in commands])

    return End(f"unix://{server.path}", server.run, run_all)


def _word(word: Word) -> bytes:
    return word if isinstance(word, bytes) else str(word).encode()


def cluster_end(cluster: RedisCluster, scheme: str = "redis") -> End:
    def run(*words: Word) -> Any:
        key = words[2] if str(words[0]).upper() in {"XINFO", "XGROUP"} else words[1]
        return cluster.master_of(key if isinstance(key, bytes) else str(key)).run(*words)

    return End(
        f"{scheme}+cluster://{cluster.nodes[0].address}",
        run,
        lambda commands: [run(*words) for words in commands],
    )


def tailrace_end(url: str) -> End:
    client = httpx.Client(base_url=url, headers={"Upstash-Encoding": "base64"})

    def run(*words: Word) -> Any:
        body = [_argument(word) for word in words]
        answer = client.post("/v1/command", json=body)
        if answer.is_error:
            return hiredis.ReplyError(answer.json()["error"])
        return _decoded(answer.json()["result"])

    def run_all(commands: Sequence[Sequence[Word]]) -> list[Any]:
        body = [[_argument(word) for word in words] for words in commands]
        answer = client.post("/v1/command/pipeline", json=body).raise_for_status()
        return [
            hiredis.ReplyError(item["error"]) if "error" in item else _decoded(item["result"])
            for item in answer.json()
        ]

    return End(url, run, run_all)


def _argument(word: Word) -> Any:
    return {"base64": b64encode(word).decode()} if isinstance(word, bytes) else str(word)


def _decoded(result: Any) -> Any:
    if isinstance(result, list):
        return [_decoded(item) for item in result]
    if result == "OK":
        return b"OK"
    return b64decode(result) if isinstance(result, str) else result


def _named(reply: Any) -> Any:
    """Flat lists of names and values as dictionaries, everywhere in XINFO's reply but in the fields of
    entries."""
    facts = dict(zip(reply[::2], reply[1::2], strict=True))
    for name in (b"groups", b"consumers"):
        if name in facts:
            facts[name] = sorted((_named(item) for item in facts[name]), key=lambda item: item["name"])
    return {name.decode(): value for name, value in facts.items()}


def _without(facts: Any, names: frozenset[str]) -> Any:
    if isinstance(facts, dict):
        return {name: _without(value, names) for name, value in facts.items() if name not in names}
    return [_without(item, names) for item in facts] if isinstance(facts, list) else facts


# --- the command ---------------------------------------------------------------------------------------


def migrate(
    source: End | str | Path,
    target: End | str | Path,
    *options: str,
    directory: Path,
    within_s: float = 2 * WITHIN_S,
) -> subprocess.CompletedProcess[str]:
    """Run the command in `directory`, where its state file goes."""
    return subprocess.run(
        arguments(source, target, *options),
        cwd=directory,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=within_s,
        check=False,
    )


def arguments(source: End | str | Path, target: End | str | Path, *options: str) -> list[str]:
    ends = (end.address if isinstance(end, End) else os.fspath(end) for end in (source, target))
    return [str(TAILRACE), "migrate", *ends, *options]


def migrated(
    source: End | str | Path,
    target: End | str | Path,
    *options: str,
    directory: Path,
    within_s: float = 2 * WITHIN_S,
) -> str:
    """Run the command, which must succeed; return what it printed."""
    done = migrate(source, target, *options, directory=directory, within_s=within_s)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# --- streams -------------------------------------------------------------------------------------------


def plain_entries(key: Word, first: int, last: int) -> list[list[Word]]:
    """The commands that append entries with the ids `first`-0 to `last`-0."""
    text = '\u00e5 \u2028 "quoted"'
    return [["XADD", key, f"{number}-0", "n", number, "text", text] for number in range(first, last + 1)]


def odd_streams(prefix: str, *, nacks: bool) -> dict[bytes, list[list[Word]]]:
    """Streams with everything that is odd: for each key the commands that make it. `nacks`: XNACK is
    known."""
    key = prefix.encode() + b":\xff\x00 all"
    everything: list[list[Word]] = [
        ["XADD", key, "1-1", "a", "1", "a", "2", b"\xff\xfe", b"\x00\n"],
        ["XADD", key, "1-2", "", ""],
        *plain_entries(key, 2, 39),
        ["XGROUP", "CREATE", key, b"g\xff", "0"],
        ["XGROUP", "CREATE", key, "late", "20-0"],
        ["XGROUP", "CREATE", key, "unknown", "5-3", "ENTRIESREAD", "-1"],
        ["XGROUP", "CREATECONSUMER", key, "late", "idle"],
        ["XREADGROUP", "GROUP", b"g\xff", b"c\xff\x00", "COUNT", 7, "STREAMS", key, ">"],
        ["XREADGROUP", "GROUP", b"g\xff", "", "COUNT", 1, "STREAMS", key, ">"],
        ["XREADGROUP", "GROUP", b"g\xff", "d", "COUNT", 12, "STREAMS", key, ">"],
        ["XREADGROUP", "GROUP", "late", "d", "COUNT", 9, "STREAMS", key, ">"],
        ["XCLAIM", key, b"g\xff", "e", 0, "3-0", "12-0", "TIME", 1234, "RETRYCOUNT", 9],
        ["XACK", key, b"g\xff", "4-0"],
        # A pending entry of each group is deleted, another one trimmed.
        ["XDEL", key, "6-0", "25-0", "39-0"],
        ["XTRIM", key, "MINID", "1-2"],
    ]
    if nacks:
        everything.append(["XNACK", key, b"g\xff", "FAIL", "IDS", 2, "7-0", "6-0", "RETRYCOUNT", 3])
    name = prefix
    return {
        key: everything,
        f"{name}:empty".encode(): [["XGROUP", "CREATE", f"{name}:empty", "g", "5-5", "MKSTREAM"]],
        f"{name}:bare".encode(): [
            ["XGROUP", "CREATE", f"{name}:bare", "g", "0", "MKSTREAM"],
            ["XGROUP", "DESTROY", f"{name}:bare", "g"],
        ],
        f"{name}:deleted".encode(): [
            ["XADD", f"{name}:deleted", "7-7", "a", "b"],
            ["XGROUP", "CREATE", f"{name}:deleted", "g", "0"],
            ["XREADGROUP", "GROUP", "g", "c", "STREAMS", f"{name}:deleted", ">"],
            ["XDEL", f"{name}:deleted", "7-7"],
        ],
        f"{name}:trimmed".encode(): [
            *plain_entries(f"{name}:trimmed", 1, 4),
            ["XGROUP", "CREATE", f"{name}:trimmed", "g", "0"],
            ["XREADGROUP", "GROUP", "g", "c", "STREAMS", f"{name}:trimmed", ">"],
            ["XDEL", f"{name}:trimmed", "2-0"],
            ["XTRIM", f"{name}:trimmed", "MAXLEN", 0],
        ],
        f"{name}:set".encode(): [
            ["XADD", f"{name}:set", "5-0", "a", "b"],
            ["XSETID", f"{name}:set", "900-9", "ENTRIESADDED", 77, "MAXDELETEDID", "400-4"],
        ],
        f"{name}:largest".encode(): [
            ["XADD", f"{name}:largest", "18446744073709551615-18446744073709551614", "a", "b"],
            ["XADD", f"{name}:largest", "18446744073709551615-18446744073709551615", "a", "b" * 100_000],
        ],
    }
