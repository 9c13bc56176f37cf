"""Claims that come due: how late a waiting reader is told of an entry that became idle enough.

A consumer takes an entry and falls silent; another waits by long-poll with ``claim_min_idle_ms``. The
answer says how long the entry was idle when it was claimed: what is more than the threshold is late.
Run it with ``python -m bench.claims``.
"""

from __future__ import annotations

import argparse
import http.client
import json
import sys
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from bench.server import server_at

GOAL_MS: Final = 5
HEADERS: Final = {"content-type": "application/json"}


class Api:
    """One connection."""

    def __init__(self, url: str) -> None:
        address = urlsplit(url)
        assert address.hostname
        self._connection = http.client.HTTPConnection(address.hostname, address.port)

    def call(self, method: str, path: str, body: dict[str, Any]) -> Any:
        """The answer, which must be a success."""
        self._connection.request(method, path, json.dumps(body), HEADERS)
        response = self._connection.getresponse()
        answer = json.loads(response.read())
        assert response.status < http.client.BAD_REQUEST, answer
        return answer

    def read(self, consumer: str, **options: int) -> list[dict[str, Any]]:
        """What a consumer of the group is given."""
        body = {
            "group": "g",
            "consumer": consumer,
            "streams": [{"key": "bench:claims", "id": ">"}],
            **options,
        }
        entries: list[dict[str, Any]] = self.call("POST", "/v1/read-group", body)["streams"][0]["entries"]
        return entries


def measure(api: Api, rounds: int, min_idle_ms: int) -> list[int]:
    """How late each claim was, in milliseconds of the server's clock."""
    group = "/v1/streams/bench:claims/groups/g"
    api.call("PUT", group, {"after": "$", "create_stream": True})
    late_ms = []
    for number in range(rounds):
        api.call("POST", "/v1/streams/bench:claims/entries", {"fields": {"round": str(number)}})
        assert len(api.read("silent")) == 1
        (claimed,) = api.read("heir", claim_min_idle_ms=min_idle_ms, wait_ms=10_000)
        late_ms.append(claimed["idle_ms"] - min_idle_ms)
        api.call("POST", f"{group}:ack", {"ids": [claimed["id"]]})
    return late_ms


def report(late_ms: Sequence[int]) -> bool:
    """Print the shares and the verdict."""
    for bound in range(max(late_ms) + 1):
        count = sum(value == bound for value in late_ms)
        if count:
            print(f"{bound:3} ms late -> {100 * count / len(late_ms):6.2f}%")
    is_met = max(late_ms) <= GOAL_MS
    print(f"goal: none more than {GOAL_MS} ms late: {'met' if is_met else 'missed'}")
    return is_met


def main() -> int:
    """Measure, print, and say whether the goal is met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", help="a running server; one is started if not given")
    parser.add_argument("--durability", choices=("none", "interval", "always"), default="always")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--min-idle-ms", type=int, default=40)
    options = parser.parse_args()
    with server_at(options.url, options.durability) as url:
        late_ms = measure(Api(url), options.rounds, options.min_idle_ms)
    return 0 if report(late_ms) else 1


if __name__ == "__main__":
    sys.exit(main())
