"""Direct calls of the engine for tests, with a clock that the test sets, and short ways to append entries."""

from __future__ import annotations

from typing import Any

from tailrace.core import commands as c
from tailrace.core.engine import Engine
from tailrace.core.errors import StreamError
from tailrace.core.outcome import Outcome
from tailrace.core.stream_id import format_id, parse_id

FRAGMENT = b'{"a":"1"}'


class Calls:
    """An engine, and a clock in Unix milliseconds."""

    def __init__(self) -> None:
        self.engine = Engine()
        self.now_ms = 1000

    def outcome(self, command: c.Command) -> Outcome:
        return self.engine.execute(command, self.now_ms)

    def reply(self, command: c.Command) -> Any:
        return self.outcome(command).reply

    def refused(self, command: c.Command) -> StreamError:
        try:
            self.outcome(command)
        except StreamError as error:
            return error
        raise AssertionError(f"not refused: {command}")

    def add(self, key: bytes, *ids: str) -> None:
        """Append one entry for each id."""
        self.reply(c.Append(key, [FRAGMENT] * len(ids), [parse_id(each.encode()) for each in ids]))

    def read_new(self, key: bytes, group: bytes, consumer: bytes, count: int | None = None) -> list[str]:
        """Read new entries for a consumer, and return their ids."""
        command = c.ReadGroup(group, consumer, (c.ReadFrom(key, c.Special.NEW),), c.ReadLimits(count=count))
        return texts(self.reply(command).streams[0].entries.ids)


def at(text: str) -> int:
    """Return the id that `text` represents."""
    return parse_id(text.encode())


def texts(ids: Any) -> list[str]:
    """Return ids in the form that clients write."""
    return [format_id(each) for each in ids]
