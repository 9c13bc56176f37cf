"""Random programs for engines behind the library, and what may differ from the embedded engine, with the
reasons."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

from tailrace.core import commands as c
from tailrace.core.parser import parse_request
from tests.differential.generator import Generator, Table
from tests.differential.harness import FAREWELL, OPENING, Comparison, Difference, commands_of
from tests.differential.later_generator import LaterGenerator
from tests.differential.redis_7_0 import Comparison70
from tests.differential.redis_8_10 import Comparison810
from tests.differential.replies import Members, Refusal, Reply
from tests.differential.vocabulary import Program, Words
from tests.remote.functions.emulation import Emulation, is_well_formed
from tests.support.redis_server import Value

ELSEWHERE: Final = (c.Read, c.ListStreams, c.MatchKeys, c.ScanKeys, c.KeyspaceSize, c.GetConfig, c.SetConfig)
"""Commands that the gateway carries out without the library."""

UNIX_TIME_MS: Final = 10**12
"""Less than the time of any clock; the idle times of programs are either below it or above the time."""


class EmulatedGenerator(LaterGenerator):
    """Programs that the gateway's grammar takes, of the commands that concern the library."""

    def _table(self) -> Table:
        reads = (Generator.xread, LaterGenerator.xread_bounded)
        return tuple(row for row in super()._table() if row[0] not in reads)

    def _is_comparable(self, words: Words) -> bool:
        if not super()._is_comparable(words) or not is_well_formed(words):
            return False
        command = parse_request(words).command
        return not isinstance(command, ELSEWHERE) and not has_named_difference(command)

    def program(self, length: int) -> Program:
        # Nodes of the default size: the library does not see where nodes begin.
        return super().program(length)[1:]


def has_named_difference(command: object) -> bool:
    """Whether the library is known to answer this command in another way."""
    trim = command.trim if isinstance(command, c.Append | c.TrimStream) else None
    if trim is not None and trim.references is not c.References.KEEP and trim.limit is not None:
        # A limit counts entries where the engine counts whole nodes.
        return True
    # A nacked entry has been idle since 1970; Redis does not compare its idle time at all.
    return _min_idle_ms(command) > UNIX_TIME_MS


def _min_idle_ms(command: object) -> int:
    if isinstance(command, c.Claim):
        assert not isinstance(command.options, c.Malformed)
        return command.options.min_idle_ms
    if isinstance(command, c.AutoClaim):
        return command.min_idle_ms
    return command.min_idle_ms if isinstance(command, c.PendingRange) else 0


class Emulated(Comparison):
    """The differences that the library has on every engine, each with its reason.

    - A nacked entry that was deleted keeps its consumer: no engine without XNACK gives it to another one.
      The states differ from there on: the program ends.
    - CLAIM takes entries of equal idle times in id order, because the engine lists them so; Redis takes
      them in the order of their deliveries. The entries of a reply are compared without their order. If
      COUNT, MAXCOUNT or MAXSIZE chooses among entries that were delivered again, the program ends.
    - A trim with ACKED deletes entries between others, which moves the greatest deleted id from 0-0; a trim
      of the embedded engine does not. With that id still 0-0, the program ends.

    `_redelivered`: the groups, by key and name, with entries that may not have been delivered in id
    order.
    """

    def __init__(self, commands: Sequence[Words], replies: Sequence[Value]) -> None:
        super().__init__(commands, replies)
        self._redelivered: set[tuple[bytes, bytes]] = set()
        self._is_over = False

    def before(self, words: Words) -> None:
        super().before(words)
        command = _command(words)
        self._is_over = (
            self._nacks_a_deleted_entry(command)
            or self._chooses_among_redelivered(command)
            or self._trims_acknowledged(command)
        )
        self._note_redeliveries(command)

    def _nacks_a_deleted_entry(self, command: object) -> bool:
        if not isinstance(command, c.NegativeAcknowledge):
            return False
        stream = self.stream(command.key)
        if stream is None or command.group not in stream.groups:
            return False
        assert not isinstance(command.ids, c.Malformed)
        pending = stream.groups[command.group].pending.present(list(command.ids))
        return any(value not in stream.log for value in pending)

    def _trims_acknowledged(self, command: object) -> bool:
        trim = command.trim if isinstance(command, c.Append | c.TrimStream) else None
        if trim is None or trim.references is not c.References.ACKNOWLEDGED:
            return False
        assert isinstance(command, c.Append | c.TrimStream)
        stream = self.ask(b"XINFO", b"STREAM", command.key)
        return not isinstance(stream, Refusal) and stream[b"max-deleted-entry-id"] == b"0-0"

    def _chooses_among_redelivered(self, command: object) -> bool:
        if not isinstance(command, c.ReadGroup) or command.claim_min_idle_ms is None:
            return False
        limits = command.limits
        is_limited = limits.count is not None or limits.max_count is not None or limits.max_bytes is not None
        groups = {(source.key, command.group) for source in command.streams}
        return is_limited and not groups.isdisjoint(self._redelivered)

    def _note_redeliveries(self, command: object) -> None:
        if isinstance(command, c.ReadGroup):
            self._redelivered |= {
                (source.key, command.group)
                for source in command.streams
                if command.claim_min_idle_ms is not None or source.after is not c.Special.NEW
            }
        elif isinstance(command, c.Claim | c.AutoClaim | c.SetGroupPosition | c.NegativeAcknowledge):
            self._redelivered.add((command.key, command.group))
        elif isinstance(command, c.RenameKey | c.CopyKey):
            moved = {group for key, group in self._redelivered if key == command.key}
            self._redelivered |= {(command.new_key, group) for group in moved}

    def compared(self, words: Words, reply: Reply) -> Reply:
        reply = super().compared(words, reply)
        command = _command(words)
        is_claim = isinstance(command, c.ReadGroup) and command.claim_min_idle_ms is not None
        if not is_claim or not isinstance(reply, list):
            return reply
        return [[key, sorted(entries, key=_id_of)] for key, entries in reply]

    def ends(self, words: Words, ours: Reply) -> bool:
        return self._is_over or super().ends(words, ours)


def _command(words: Words) -> object:
    """Return the command; None if the grammar refuses it, or one of its arguments."""
    return parse_request(words).command if is_well_formed(words) else None


def _id_of(entry: Reply) -> tuple[int, int]:
    ms, seq = entry[0].split(b"-")
    return int(ms), int(seq)


class EmulatedBy70(Emulated, Comparison70):
    """The engine against 7.0.15 behind the library."""

    omitted: Members = frozenset({b"active-time", b"inactive", b"radix-tree-keys", b"radix-tree-nodes"})

    def _probed(self, index: int) -> Reply:
        # The library creates the consumer of an empty read, so nothing is to be turned into today's answer.
        return self.theirs[index]


class EmulatedByValkey(EmulatedBy70):
    """The engine against Valkey 9.1.2 behind the library: its streams are those of Redis 7.2, which counts
    reads as 7.0 does."""

    omitted: Members = frozenset({b"radix-tree-keys", b"radix-tree-nodes"})


class EmulatedBy810(Emulated, Comparison810):
    """The engine against 8.10.2 behind the library."""

    omitted: Members = frozenset({b"radix-tree-keys", b"radix-tree-nodes"})


def program(seed: int, steps: int) -> Program:
    """The random program of that seed."""
    return EmulatedGenerator(Random(seed)).program(steps)


def first_difference(emulation: Emulation, comparison: type[Comparison], steps: Program) -> Difference | None:
    """None where the engine and the engine behind the library answer alike."""
    commands = commands_of([*OPENING, *steps, *FAREWELL])
    return comparison(commands, [emulation.run(words) for words in commands]).run()
