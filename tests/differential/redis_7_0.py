"""Redis 7.0.15 (Debian's), and the differences between it and 8.10 that are allowed, each with its reason.

All other answers must be equal. What Redis answered is turned into what today's servers answer, or a
group whose counters came apart is compared without them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tailrace.core.stream_id import StreamId, parse_id
from tests.differential.harness import Comparison, groups_of, starts
from tests.differential.probes import consumer_probes
from tests.differential.replies import Members, Refusal, Reply
from tests.differential.vocabulary import KEYS, Words
from tests.support.redis_server import Value

LATER_MEMBERS: Final = frozenset(
    {
        *(
            b"idmp-duration",
            b"idmp-maxsize",
            b"pids-tracked",
            b"iids-tracked",
            b"iids-added",
            b"iids-duplicates",
        ),
        *(b"nacked-count", b"active-time", b"inactive"),
    }
)
"""XINFO has them since 7.2 (active-time, inactive), 8.6 (idempotency) and 8.8 (nacked-count)."""

OWN_MEMBERS: Final = frozenset({b"radix-tree-keys", b"radix-tree-nodes"})
"""How many nodes a tree has is each implementation's own, and Redis may keep one of deleted entries
only; that nodes end at the same entries shows in what approximate trimming removes."""

UNBALANCED: Final = (
    "ERR Unbalanced XREAD list of streams: for each stream key an ID or '$' must be specified."
)
UNBALANCED_TODAY: Final = {
    b"XREAD": (
        "ERR Unbalanced 'xread' list of streams: for each stream key an ID, '+', or '$' must be specified."
    ),
    b"XREADGROUP": (
        "ERR Unbalanced 'xreadgroup' list of streams: for each stream key an ID or '>' must be specified."
    ),
}
NO_ARGUMENTS: Final = ", with args beginning with: "
TOO_LARGE: Final = "ERR Elements are too large to be stored"
NOT_GREATER: Final = "ERR The ID specified in XADD is equal or smaller than the target stream top item"

XSETID_BELOW_DELETED: Final = "ERR The ID specified in XSETID is smaller than current max_deleted_entry_id"
"""7.0.15 does not compare the id with the greatest deleted one (rule 65), so it accepts what today is
refused. The two streams differ from there on: the program ends."""

Group = dict[bytes, Any]


def as_worded_today(words: Words, line: str) -> str:
    """7.0.15 says XREAD to an odd list of streams of XREADGROUP too; today each has its own line. It calls
    the entry too large (none of these is) where the sequence of ``ms-*`` overflows (rule 6). And it mentions
    the arguments of an unknown command that has none."""
    if line == TOO_LARGE:
        return NOT_GREATER
    if len(words) == 1:
        return line.removesuffix(NO_ARGUMENTS)
    return UNBALANCED_TODAY[words[0].upper()] if line == UNBALANCED else line


def counts_reads_blindly(group: Group, first_id: StreamId, max_deleted_id: StreamId) -> bool:
    """Whether 7.0.15 would add one to the entries read where current servers estimate them again (rule 57).

    7.0.15 does not check whether the group's position is before the stream's first entry. It looks for
    deleted entries after the entry just read; current servers look from the group's position on.
    """
    last_id = parse_id(group[b"last-delivered-id"])
    return group[b"entries-read"] is not None and (last_id < first_id or last_id <= max_deleted_id)


def created_by_an_empty_read(main: Reply, probe: Reply) -> Reply:
    """7.0.15 creates no consumer where a read or a claim yields nothing (rules 28 and 51).

    `probe` is its answer to XGROUP CREATECONSUMER just after `main`: where `main` succeeded, the
    consumer must exist already, as it does today.
    """
    return probe if isinstance(main, Refusal) or probe not in (0, 1) else 0


def with_early_lag(group: Group, length: int, first_id: StreamId, max_deleted_id: StreamId) -> None:
    """7.0.15 lacks the early branches of lag: an empty stream, and both behind its first entry (rule 59)."""
    last_id = parse_id(group[b"last-delivered-id"])
    if length == 0:
        group[b"lag"] = 0
    elif last_id < first_id and max_deleted_id < first_id:
        group[b"lag"] = length


def without_read_counters(group: Group) -> None:
    """For a group whose counters differ: by `counts_reads_blindly`, or by an ENTRIESREAD above the
    entries added, which is capped since 8.2.2 (rule 56)."""
    del group[b"entries-read"], group[b"lag"]


class Comparison70(Comparison):
    """The engine against 7.0.15.

    `keys`: the keys of its programs. `_apart`: the groups, by key and name, whose read counters no longer
    agree for a named reason.
    """

    keys: tuple[bytes, ...] = KEYS
    omitted: Members = LATER_MEMBERS | OWN_MEMBERS

    def __init__(self, commands: Sequence[Words], replies: Sequence[Value]) -> None:
        super().__init__(commands, replies)
        self._apart: set[tuple[bytes, bytes]] = set()

    def worded(self, words: Words, line: str) -> str:
        return as_worded_today(words, line)

    def ends(self, words: Words, ours: Reply) -> bool:
        del words
        return isinstance(ours, Refusal) and ours.line == XSETID_BELOW_DELETED

    def compared(self, words: Words, reply: Reply) -> Reply:
        for group in groups_of(words, reply):
            if (words[2], group[b"name"]) in self._apart:
                without_read_counters(group)
        return reply

    def expected(self, index: int) -> Reply:
        words = self.commands[index]
        if starts(words, b"XGROUP", b"CREATECONSUMER"):
            return self._probed(index)
        reply = super().expected(index)
        if groups := groups_of(words, reply):
            stream = self.ask(b"XINFO", b"STREAM", words[2])
            for group in groups:
                with_early_lag(group, stream[b"length"], *_first_and_max_deleted(stream))
        return reply

    def _probed(self, index: int) -> Reply:
        for back in range(1, min(index, 3) + 1):
            if self.commands[index] in consumer_probes(self.commands[index - back]):
                return created_by_an_empty_read(self.theirs[index - back], self.theirs[index])
        return self.theirs[index]

    # --- read counters -------------------------------------------------------------------------

    def before(self, words: Words) -> None:
        """Note the groups whose counters differ after this command."""
        if words[0].upper() in {b"RENAME", b"COPY"}:
            old, new = words[1:2], words[2:3]
            self._apart |= {(key, group) for key in new for known, group in self._apart if [known] == old}
        elif words[0].upper() == b"XREADGROUP":
            for key in set(self.keys).intersection(words):
                self._note_blind_counts(key)
        elif words[0].upper() == b"XGROUP":
            self._note_uncapped_entries_read(words)

    def _note_blind_counts(self, key: bytes) -> None:
        stream = self.ask(b"XINFO", b"STREAM", key)
        if isinstance(stream, Refusal):
            return
        ids = _first_and_max_deleted(stream)
        groups = self.ask(b"XINFO", b"GROUPS", key)
        self._apart |= {(key, group[b"name"]) for group in groups if counts_reads_blindly(group, *ids)}

    def _note_uncapped_entries_read(self, words: Words) -> None:
        upper = [word.upper() for word in words]
        if b"ENTRIESREAD" not in upper[4:-1]:
            return
        given = words[upper.index(b"ENTRIESREAD", 4) + 1]
        stream = self.ask(b"XINFO", b"STREAM", words[2])
        added = 0 if isinstance(stream, Refusal) else stream[b"entries-added"]
        if given.isdigit() and int(given) > added:
            self._apart.add((words[2], words[3]))


def _first_and_max_deleted(stream: dict[bytes, Any]) -> tuple[StreamId, StreamId]:
    return parse_id(stream[b"recorded-first-entry-id"]), parse_id(stream[b"max-deleted-entry-id"])
