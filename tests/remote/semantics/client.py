"""A gateway as a Redis client uses it: the `R` of `tests.support.redis_like` over HTTP.

Owns no engine, so it has no effects to look at, and the clock is the engine's own.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Sequence
from functools import cache
from typing import Any

import httpx

from tests.support.redis_like import START_MS, ErrorLine, R, Readable, readable

WITHIN_S = 60


@cache
def _client(base_url: str) -> httpx.Client:
    return httpx.Client(base_url=base_url, headers={"Upstash-Encoding": "base64"}, timeout=WITHIN_S)


class GatewayR(R):
    """The gateway at `base_url`, whose engine is emptied first. Setting `now_ms` has no effect."""

    def __init__(self, base_url: str) -> None:
        self._http = _client(base_url)
        self.now_ms = START_MS
        self.run("FLUSHALL")

    def run_raw(self, words: Sequence[bytes]) -> Readable:
        """Return the reply to one command, or its error line."""
        body = [{"base64": b64encode(word).decode()} for word in words]
        answer = self._http.post("/v1/command", json=body).json()
        return ErrorLine(answer["error"]) if "error" in answer else readable(_decoded(answer["result"]))


def _decoded(result: Any) -> Any:
    if isinstance(result, list):
        return [_decoded(item) for item in result]
    if result == "OK":
        return b"OK"
    return b64decode(result) if isinstance(result, str) else result
