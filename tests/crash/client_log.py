"""The log of one client: its stream as its answers describe it. After a crash, the log decides what the
server must still have.

The stream is that client's alone and it sends one command at a time, so that every answer can be
predicted. A command without an answer may have been done or not: both are right, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Id = tuple[int, int]


def id_of(text: str) -> Id:
    ms, _, seq = text.partition("-")
    return int(ms), int(seq)


def text_of(value: Id) -> str:
    return f"{value[0]}-{value[1]}"


@dataclass
class GroupLog:
    """`pending`: id -> consumer and deliveries."""

    last_delivered: Id = (0, 0)
    pending: dict[Id, tuple[str, int]] = field(default_factory=dict)
    consumers: set[str] = field(default_factory=set)


@dataclass
class ClientLog:
    """`entries`: live ones, id -> value. `last_id`: the greatest id ever given; it never falls."""

    entries: dict[Id, str] = field(default_factory=dict)
    groups: dict[str, GroupLog] = field(default_factory=dict)
    last_id: Id = (0, 0)

    def apply(self, command: list[str], new_id: Id | None) -> Any:
        """Do `command`, and give the answer to it. `new_id`: what an append was given."""
        return getattr(self, f"_{command[0].lower()}")(command, new_id)

    # --- one method a command; each gives the answer ----------------------------------------------

    def _xadd(self, command: list[str], new_id: Id | None) -> str:
        assert new_id is not None
        assert new_id > self.last_id, f"{new_id} was given after {self.last_id}"
        self.entries[new_id] = command[-1]
        self.last_id = new_id
        return text_of(new_id)

    def _xdel(self, command: list[str], _: Id | None) -> int:
        found = [id_of(each) for each in command[2:] if id_of(each) in self.entries]
        for each in found:
            del self.entries[each]
        return len(found)

    def _xtrim(self, command: list[str], _: Id | None) -> int:
        surplus = max(len(self.entries) - int(command[-1]), 0)
        for each in list(self.entries)[:surplus]:
            del self.entries[each]
        return surplus

    def _xgroup(self, command: list[str], _: Id | None) -> Any:
        action, group = command[1], command[3]
        if action == "CREATE":
            self.groups[group] = GroupLog(id_of(command[4]))
            return "OK"
        if action == "SETID":
            self.groups[group].last_delivered = id_of(command[4])
            return "OK"
        if action == "DELCONSUMER":
            return self._delete_consumer(self.groups[group], command[4])
        del self.groups[group]
        return 1

    @staticmethod
    def _delete_consumer(group: GroupLog, consumer: str) -> int:
        group.consumers.discard(consumer)
        owned = [each for each, (owner, _) in group.pending.items() if owner == consumer]
        for each in owned:
            del group.pending[each]
        return len(owned)

    def _xreadgroup(self, command: list[str], _: Id | None) -> Any:
        name, consumer, count, key = command[2], command[3], command[5], command[7]
        group = self.groups[name]
        group.consumers.add(consumer)
        news = [each for each in self.entries if each > group.last_delivered][: int(count)]
        if not news:
            return None
        group.last_delivered = news[-1]
        group.pending.update((each, (consumer, 1)) for each in news)
        return [[key, [[text_of(each), ["n", self.entries[each]]] for each in news]]]

    def _xack(self, command: list[str], _: Id | None) -> int:
        pending = self.groups[command[2]].pending
        return sum(pending.pop(id_of(each), None) is not None for each in command[3:])

    def _xclaim(self, command: list[str], _: Id | None) -> list[Any]:
        group, consumer = self.groups[command[2]], command[3]
        group.consumers.add(consumer)
        claimed = []
        for value in map(id_of, command[5:]):
            if value in group.pending and value in self.entries:
                group.pending[value] = (consumer, group.pending[value][1] + 1)
                claimed.append([text_of(value), ["n", self.entries[value]]])
        return claimed
