"""Random requests of several Redis commands each, for one connection of a program (`http_programs`).

This module owns the commands of pipelines and transactions. Other kinds of requests are in `http_requests`.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Final

from tests.fuzz.http_bytes import Engine, HttpRequest, Names, RequestMaker

COUNTS: Final = (1, 2, 3, 8)
"""How many commands a request has."""


class CommandMaker(RequestMaker):
    """Makes requests of several commands. `_ids`: how many ids the entries of the group got."""

    def __init__(self, chance: Random, names: Names) -> None:
        super().__init__(chance, names)
        self._ids = 0

    def pipeline(self) -> HttpRequest:
        """Run commands one after another. On a Cluster, its writes often need a replica, and so go another
        way to the engine than its reads."""
        keys, group_key = self._names.keys, self._names.group_key
        commands = [self._words(self._chance.choice(keys), group_key) for _ in range(self._commands_count())]
        request = self._made("pipeline", "POST", "/v1/command/pipeline", commands)
        if self._names.engine is not Engine.CLUSTER or self._chance.random() < 0.5:
            return request
        option = b"\r\nmin-replicas: 1\r\n\r\n["
        return replace(request, raw=request.raw.replace(b"\r\n\r\n[", option))

    def transaction(self) -> HttpRequest:
        """Run commands on one stream as one step; most streams have no group."""
        key = self._chance.choice(self._names.keys)
        commands = [self._words(key, key) for _ in range(self._commands_count())]
        return self._made("transaction", "POST", "/v1/command/multi-exec", commands)

    def _commands_count(self) -> int:
        return self._chance.choice(COUNTS)

    def _words(self, key: str, group_key: str) -> list[str]:
        """Return a command on one of two streams."""
        append = ["XADD", key, "*", "v", self._value()]
        if key == self._names.group_key:
            self._ids += 1
            append[2] = f"{self._ids}-1"
        read = ["XREADGROUP", "GROUP", "g", self._chance.choice("xy"), "COUNT", "1"]
        forms = (
            append,
            append,
            ["XLEN", key],
            ["XRANGE", key, "-", "+", "COUNT", "3"],
            ["XTRIM", key, "MAXLEN", "4"],
            ["XINFO", "STREAM", key],
            ["XREAD", "STREAMS", key, "0"],
            [*read, "STREAMS", group_key, ">"],
            ["XACK", group_key, "g", f"{self._ids}-1"],
            ["XPENDING", group_key, "g"],
        )
        return self._chance.choice(forms)
