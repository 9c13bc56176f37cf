"""How tests of the engine call it directly: a clock to set, and entries that are quick to write."""

from __future__ import annotations

from typing import Any

from tailrace.core import commands as c
from tailrace.core.engine import Engine
from tailrace.core.errors import StreamError
from tailrace.core.outcome import Outcome
from tailrace.core.stream_id import format_id, parse_id

FRAGMENT = b'{"a":"1"}'


class Calls:
    """An engine and a clock in milliseconds."""

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
        """Append an entry for each id."""
        self.reply(c.Append(key, [FRAGMENT] * len(ids), [parse_id(each.encode()) for each in ids]))

    def read_new(self, key: bytes, group: bytes, consumer: bytes, count: int | None = None) -> list[str]:
        """Read new entries for a consumer; their ids."""
        command = c.ReadGroup(group, consumer, (c.ReadFrom(key, c.Special.NEW),), c.ReadLimits(count=count))
        return texts(self.reply(command).streams[0].entries.ids)


def at(text: str) -> int:
    """The id that `text` writes."""
    return parse_id(text.encode())


def texts(ids: Any) -> list[str]:
    """Ids as clients write them."""
    return [format_id(each) for each in ids]
