"""A gateway is killed under load: its producers continue at another one, without loss and without doubles."""

from __future__ import annotations

import signal
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from threading import Event

import httpx
import pytest

from tests.support.engines import RedisOnPort, executable_of
from tests.support.redis_server import required
from tests.support.server_process import running_server
from tests.support.waiting_readers import until

PRODUCERS = 8
BEFORE, AFTER = 100, 25
"""Appends of all producers before the kill, and of each one after it."""
KEY = "killed"


class Producer:
    """Appends numbers with an idempotency key each. It repeats an append at the next gateway until it is
    acknowledged."""

    def __init__(self, name: str, gateways: list[str], at: int, killed: Event) -> None:
        self.acknowledged: dict[str, str] = {}
        self.failures: Counter[str] = Counter()
        self.replays = 0
        self._name = name
        self._gateways = gateways
        self._at = at
        self._killed = killed

    def run(self) -> None:
        with httpx.Client(timeout=10) as client:
            left = AFTER
            while left:
                left -= self._killed.is_set()
                self._append(client, f"{self._name}-{len(self.acknowledged)}")

    def _append(self, client: httpx.Client, value: str) -> None:
        headers = {"Producer-Id": self._name, "Idempotency-Key": value}
        body = {"fields": {"value": value}}
        while True:
            url = f"{self._gateways[self._at % len(self._gateways)]}/v1/streams/{KEY}/entries"
            try:
                answer = client.post(url, json=body, headers=headers)
            except httpx.TransportError as error:
                self.failures[type(error).__name__] += 1
                self._at += 1
                continue
            assert answer.status_code in {200, 201}, answer.text
            self.replays += answer.status_code == 200
            self.acknowledged[value] = answer.json()["id"]
            return


def test_producers_of_a_killed_gateway_continue_at_another_and_nothing_is_lost_or_doubled(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    executable = executable_of("redis-8.10.2")
    if executable is None and not required():
        pytest.skip("Redis 8.10.2 is not built")
    assert executable is not None
    places: list[Path] = [tmp_path_factory.mktemp(name) for name in ("one", "other")]
    with ExitStack() as stack:
        redis = stack.enter_context(RedisOnPort(executable))
        one, other = [stack.enter_context(running_server(each, "--store", redis.url)) for each in places]
        killed = Event()
        urls = [one.base_url, other.base_url]
        producers = [Producer(f"p{number}", urls, number, killed) for number in range(PRODUCERS)]
        with ThreadPoolExecutor(PRODUCERS) as threads:
            runs = [threads.submit(each.run) for each in producers]
            try:
                until(lambda: sum(len(each.acknowledged) for each in producers) >= BEFORE, 30)
                one.signal(signal.SIGKILL)
                one.wait()
            finally:
                killed.set()
            for run in runs:
                run.result(60)
        rows = redis.run("XRANGE", KEY, "-", "+")
    assert isinstance(rows, list)
    stored = Counter(row[1][1].decode() for row in rows)
    acknowledged = {value: at for each in producers for value, at in each.acknowledged.items()}
    failures = sum((each.failures for each in producers), Counter[str]())
    replays = sum(each.replays for each in producers)
    print(  # noqa: T201 - the figures
        f"acknowledged {len(acknowledged)}, stored {len(rows)}, replayed {replays}, failed {dict(failures)}"
    )
    assert stored == Counter(dict.fromkeys(acknowledged, 1))
    assert {row[1][1].decode(): row[0].decode() for row in rows} == acknowledged
    assert failures, "the kill was noticed"
