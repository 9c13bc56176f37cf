"""Counters of commands, commits, requests, delays and moved bytes, updated on the event loop while the
server runs.

A count is one or two additions; a duration is counted in a histogram with powers of two as bounds. The
module owns the counting. It never measures a time of others, and never writes the metrics page:
`app.metrics` does.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from operator import add
from typing import Any, Final

from tailrace.core import commands as c
from tailrace.core import effects as e
from tailrace.core.command_table import NAMES
from tailrace.core.commands import Append, Command
from tailrace.core.effects import Effect
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.outcome import Outcome
from tailrace.core.replies import AppendReply, DeleteResult, ExpiryReply, RangeReply, ReadReply, Reply

_BUCKETS: Final = 64
"""One bucket for each power of two of a 64-bit number."""

DURATION_UNIT_NS: Final = 1_000
DURATION_POWERS: Final = range(6, 24)
"""The bounds of durations on the metrics page: 64 us to 8.4 s, each twice the previous one."""

SIZE_POWERS: Final = range(17)
"""The bounds of sizes on the metrics page: 1 to 65 536."""


class Histogram:
    """Counts whole numbers. Bucket `i` counts values above ``2**(i-1)`` and up to ``2**i`` units.

    `unit`: the size of one unit. `total`: the sum of all values.
    """

    __slots__ = ("_unit", "counts", "total")

    def __init__(self, unit: int = 1) -> None:
        self._unit = unit
        self.counts = [0] * _BUCKETS
        self.total = 0

    def add(self, value: int) -> None:
        """Count one value, 0 or more. About 0.15 us."""
        self.counts[((value - 1) // self._unit).bit_length()] += 1
        self.total += value

    @property
    def count(self) -> int:
        """Return the number of values. O(buckets)."""
        return sum(self.counts)

    def buckets(self, powers: range, scale: float) -> Sequence[tuple[str, float]]:
        """Return the upper bounds as text and the cumulative counts; the last bound is ``+Inf``.

        The bounds are ``2**power`` units for each of `powers`, multiplied by `scale`.
        """
        cumulative = list(accumulate(self.counts))
        shown = [(_text(2**power * self._unit * scale), float(cumulative[power])) for power in powers]
        return [*shown, ("+Inf", float(cumulative[-1]))]


def durations() -> Histogram:
    """Return a histogram of durations in nanoseconds."""
    return Histogram(DURATION_UNIT_NS)


def _text(bound: float) -> str:
    """Return `bound` rounded to six decimals, without trailing zeros."""
    return f"{bound:.6f}".rstrip("0").rstrip(".")


SEVERAL: Final = "several"
"""The name under which the engine's time for several commands that ran together is counted."""


class CommandKind:
    """The counters of one kind of command.

    `count`: how many ran. `engine_ns`: the engine's time, including retries of waiting readers. `note`: the
    function that counts the entries that a command of this kind moved.
    """

    __slots__ = ("count", "engine_ns", "name", "note")

    def __init__(self, name: str) -> None:
        self.name = name
        self.count = 0
        self.engine_ns = 0
        self.note: Note = note_effects


class CommandFigures:
    """The counters of all commands of one store.

    `refusals`: rejected commands by command name and error code. `last_engine_ns`: the engine's time for the
    last command or commands, excluding retries of waiting readers.
    """

    def __init__(self) -> None:
        self.counters = StreamCounters()
        self.refusals: Counter[tuple[str, str]] = Counter()
        self.last_engine_ns = 0
        by_name = {name: CommandKind(name) for name in (*NAMES.values(), SEVERAL)}
        self.kinds = by_name.values()
        self._several = by_name[SEVERAL]
        self._kind_of = {command: by_name[name] for command, name in NAMES.items()}
        for command, note in NOTES.items():
            self._kind_of[command].note = note

    def ran(self, command: Command, outcome: Outcome, engine_ns: int) -> None:
        """Count a command that ran for the first time. O(effects)."""
        self.last_engine_ns = engine_ns
        kind = self._kind_of[type(command)]
        kind.count += 1
        kind.engine_ns += engine_ns
        if outcome.wait is None:
            note = kind.note
            note(self.counters, outcome.reply, outcome.effects)
        elif outcome.effects:
            # A read that continues to wait may have moved entries to a dead-letter stream.
            note_effects(self.counters, None, outcome.effects)

    def ran_joined(
        self,
        commands: Sequence[Append],
        replies: Sequence[Reply | StreamError],
        effects: Sequence[Effect],
        engine_ns: int,
    ) -> None:
        """Count appends that were joined, each of which stands for as many requests as it has entries.
        `effects` are those of all."""
        self.last_engine_ns = engine_ns
        kind, counters = self._kind_of[Append], self.counters
        kind.engine_ns += engine_ns
        note_effects(counters, None, effects)
        for command, reply in zip(commands, replies, strict=True):
            if isinstance(reply, StreamError):
                self.refused(command, reply.code)
                continue
            assert isinstance(reply, AppendReply)
            kind.count += len(command.fragments)
            counters.appends += len(command.fragments) - 1
            counters.append_replays += reply.replayed

    def looked(self, command: Command, outcome: Outcome, engine_ns: int) -> None:
        """Count the retry of a waiting reader's command: its time, and its result if the wait is over."""
        kind = self._kind_of[type(command)]
        kind.engine_ns += engine_ns
        if outcome.wait is None:
            kind.note(self.counters, outcome.reply, outcome.effects)
        elif outcome.effects:
            # A read that continues to wait may have moved entries to a dead-letter stream.
            note_effects(self.counters, None, outcome.effects)

    def ran_all(
        self,
        commands: Sequence[Command],
        replies: Sequence[Reply | StreamError],
        effects: Sequence[Effect],
        engine_ns: int,
    ) -> None:
        """Count commands that ran together. `effects` are those of all commands."""
        self.last_engine_ns = engine_ns
        timed = self._kind_of[type(commands[0])] if len(commands) == 1 else self._several
        timed.engine_ns += engine_ns
        self._several.count += timed is self._several
        note_effects(self.counters, None, effects)
        for command, reply in zip(commands, replies, strict=True):
            if not isinstance(reply, StreamError):
                kind = self._kind_of[type(command)]
                kind.count += 1
                kind.note(self.counters, reply, ())
                if isinstance(command, Append) and command.each:
                    self._ran_each(kind, command, reply)

    def _ran_each(self, kind: CommandKind, command: Append, reply: Reply) -> None:
        """Count the other appends of a run, of which the command itself is one."""
        assert isinstance(reply, AppendReply)
        done = len(reply.ids)
        kind.count += done - 1
        self.counters.appends += done - 1
        if done < len(command.fragments):
            self.refusals[kind.name, ErrorCode.ID_EXHAUSTED] += len(command.fragments) - done

    def refused(self, command: Command, code: str) -> None:
        """Count a rejected command; each append of a run.

        The store calls this, because it rejects commands before the engine too.
        """
        count = len(command.fragments) if isinstance(command, Append) and command.each else 1
        self.refusals[NAMES[type(command)], code] += count


RECENT_MAX: Final = 1_000
"""How many durations are kept one by one: enough for the 99th percentile of the last commits."""


class CommitFigures:
    """The counters of all commits.

    `durations`: from the start of a row's transaction to the end of its sync.
    `commands`: the number of commands or transactions per row. `size_bytes`: the total size of all rows.
    `checkpoints`: the number of finished checkpoints. `recent_ns`: the durations of the last commits.
    """

    __slots__ = ("checkpoints", "commands", "durations", "recent_ns", "size_bytes")

    def __init__(self) -> None:
        self.durations = durations()
        self.commands = Histogram()
        self.size_bytes = 0
        self.checkpoints = 0
        self.recent_ns: deque[int] = deque(maxlen=RECENT_MAX)

    def note(self, duration_ns: int, command_count: int, size_bytes: int) -> None:
        """Count one durable row. O(1)."""
        self.durations.add(duration_ns)
        self.commands.add(command_count)
        self.size_bytes += size_bytes
        self.recent_ns.append(duration_ns)


CLIENT_GONE_STATUS: Final = 499
"""The recorded status of a request whose connection ended before its response; nginx uses the same number."""


class RequestFigures:
    """The counters of all requests since the start.

    `answers`: a histogram of durations by the name of the operation and the status of the response.
    """

    def __init__(self) -> None:
        self.answers: dict[tuple[str, int], Histogram] = {}

    def note(self, operation: str, status: int, duration_ns: int, count: int = 1) -> None:
        """Count finished requests, one unless `count` is given, each of this duration. O(1), about 0.2 us.

        The code of `Histogram.add` is inlined: each request runs it, and a call would double its cost.
        """
        try:
            histogram = self.answers[operation, status]
        except KeyError:
            histogram = self.answers[operation, status] = durations()
        histogram.counts[((duration_ns - 1) // DURATION_UNIT_NS).bit_length()] += count
        histogram.total += duration_ns * count

    def durations_of(self, operation: str) -> Histogram:
        """Return the durations of an operation for all statuses. O(operations)."""
        return sum_of(each for (name, _), each in self.answers.items() if name == operation)


def sum_of(histograms: Iterable[Histogram]) -> Histogram:
    """Return the sum of duration histograms."""
    whole = durations()
    for histogram in histograms:
        whole.counts = list(map(add, whole.counts, histogram.counts))
        whole.total += histogram.total
    return whole


PERIOD_S: Final = 0.05


class LoopLag:
    """The histogram of delays. Call `sample` every `PERIOD_S` seconds."""

    def __init__(self) -> None:
        self.lags = durations()
        self._last_ns = 0

    def sample(self) -> None:
        """Record the delay of this call in nanoseconds. O(1)."""
        now_ns = time.perf_counter_ns()
        if self._last_ns:
            self.lags.add(max(now_ns - self._last_ns - round(PERIOD_S * 1e9), 0))
        self._last_ns = now_ns


MEANINGS: Final = {
    "appends": "Appends that added entries, of one entry or of many.",
    "append_replays": "Repeated appends with a known idempotency key; they added no entries.",
    "entries_appended": "Entries added.",
    "entries_trimmed": "Entries removed by trimming.",
    "entries_deleted": "Entries removed by id.",
    "reads": "Finished reads and ranges, with or without a group.",
    "entries_read": "Entries returned to reads and ranges without a group.",
    "deliveries": "New and claimed entries delivered to consumers of groups.",
    "claims": "Entries whose owner changed by a claim.",
    "acks": "Entries acknowledged.",
    "nacks": "Entries released by negative acknowledgment.",
    "dead_letters": "Entries moved to dead-letter streams.",
    "redriven": "Dead letters sent back to their streams.",
    "leases_extended": "Entries whose idle time their consumer began again.",
    "entries_scheduled": "Entries stored to be appended later.",
    "scheduled_published": "Scheduled entries appended when their time came.",
    "scheduled_cancelled": "Scheduled entries cancelled before their time.",
    "retries_delayed": "Entries released by negative acknowledgment that can be claimed later.",
    "consumers_expired": "Consumers deleted because they were not seen for too long.",
}
"""The help text of each counter; the names are attributes of `StreamCounters`."""

RETIRED: Final = "Entries removed by the retention of their streams, by the rule that removed the most then."
"""The help text of `StreamCounters.retired`."""

_RULES: Final = ("max_age_ms", "max_length", "max_bytes", "acknowledged")
"""The rules that are shown before they remove an entry."""


class StreamCounters:
    """The counts since the start; `MEANINGS` and `RETIRED` describe them. `retired`: by reason."""

    __slots__ = (*MEANINGS, "retired")

    appends: int
    append_replays: int
    entries_appended: int
    entries_trimmed: int
    entries_deleted: int
    reads: int
    entries_read: int
    deliveries: int
    claims: int
    acks: int
    nacks: int
    dead_letters: int
    redriven: int
    leases_extended: int
    entries_scheduled: int
    scheduled_published: int
    scheduled_cancelled: int
    retries_delayed: int
    consumers_expired: int

    def __init__(self) -> None:
        for name in MEANINGS:
            setattr(self, name, 0)
        self.retired = Counter(dict.fromkeys(_RULES, 0))


def note_effects(counters: StreamCounters, _reply: object, effects: Sequence[e.Effect]) -> None:
    """Count a command, or several commands that ran together, by effects alone."""
    for effect in effects:
        note = _OF_EFFECT.get(type(effect))
        if note is not None:
            note(counters, effect)


def _appended(counters: StreamCounters, effect: e.EntriesAppended) -> None:
    counters.appends += 1
    counters.entries_appended += len(effect.ids)


def _trimmed(counters: StreamCounters, effect: e.EntriesTrimmed) -> None:
    counters.entries_trimmed += effect.count


def _retired(counters: StreamCounters, effect: e.EntriesRetired) -> None:
    counters.retired[effect.reason] += effect.count


def _removed(counters: StreamCounters, effect: e.EntriesRemoved) -> None:
    if effect.tombstone:
        counters.entries_deleted += len(effect.ids)
    else:
        counters.entries_trimmed += len(effect.ids)


def _claimed(counters: StreamCounters, effect: e.Claimed) -> None:
    counters.claims += len(effect.ids)


def _nacked(counters: StreamCounters, effect: e.Nacked) -> None:
    counters.nacks += len(effect.ids)


def _dead_lettered(counters: StreamCounters, effect: e.DeadLettered) -> None:
    counters.dead_letters += len(effect.ids)
    counters.entries_appended += len(effect.ids)


def _redriven(counters: StreamCounters, effect: e.Redriven) -> None:
    counters.redriven += len(effect.ids)
    counters.entries_appended += len(effect.ids)
    counters.entries_deleted += len(effect.ids)


def _scheduled(counters: StreamCounters, effect: e.EntriesScheduled) -> None:
    counters.entries_scheduled += len(effect.scheduled_ids)


def _published(counters: StreamCounters, effect: e.ScheduledPublished) -> None:
    counters.scheduled_published += len(effect.ids)
    counters.entries_appended += len(effect.ids)


def _cancelled(counters: StreamCounters, effect: e.ScheduledCancelled) -> None:
    counters.scheduled_cancelled += len(effect.scheduled_ids)


def _retries_delayed(counters: StreamCounters, effect: e.RetriesDelayed) -> None:
    counters.nacks += len(effect.ids)
    counters.retries_delayed += len(effect.ids)


def _leases_extended(counters: StreamCounters, effect: e.LeasesExtended) -> None:
    counters.leases_extended += len(effect.ids)


_OF_EFFECT: Final[dict[type[e.Effect], Callable[[StreamCounters, Any], None]]] = {
    e.EntriesAppended: _appended,
    e.EntriesTrimmed: _trimmed,
    e.EntriesRemoved: _removed,
    e.EntriesRetired: _retired,
    e.Claimed: _claimed,
    e.Nacked: _nacked,
    e.DeadLettered: _dead_lettered,
    e.Redriven: _redriven,
    e.LeasesExtended: _leases_extended,
    e.EntriesScheduled: _scheduled,
    e.ScheduledPublished: _published,
    e.ScheduledCancelled: _cancelled,
    e.RetriesDelayed: _retries_delayed,
}


# --- commands that also need their reply -------------------------------------------------------------


def _append(counters: StreamCounters, reply: AppendReply | None, effects: Sequence[e.Effect]) -> None:
    if reply is not None and len(effects) == 1 and not reply.replayed:
        # The most common case: the only effect has the ids of the reply.
        counters.appends += 1
        counters.entries_appended += len(reply.ids)
        return
    note_effects(counters, reply, effects)
    counters.append_replays += reply is not None and reply.replayed


def _range(counters: StreamCounters, reply: RangeReply, _effects: object) -> None:
    counters.reads += 1
    counters.entries_read += len(reply.entries.ids)


def _read(counters: StreamCounters, reply: ReadReply, _effects: object) -> None:
    counters.reads += 1
    for read in reply.streams:
        counters.entries_read += len(read.entries.ids)


def _group_read(counters: StreamCounters, reply: ReadReply, effects: Sequence[e.Effect]) -> None:
    note_effects(counters, reply, effects)
    counters.reads += 1
    for read in reply.streams:
        if not read.history:
            counters.deliveries += len(read.entries.ids)
        else:
            # A read of a consumer's own pending entries has the effect of a claim but is not a claim.
            counters.claims -= sum(fragment is not None for fragment in read.entries.fragments)


def _ack(counters: StreamCounters, reply: int, _effects: object) -> None:
    counters.acks += reply


def _ack_and_delete(
    counters: StreamCounters, reply: Sequence[DeleteResult], effects: Sequence[e.Effect]
) -> None:
    note_effects(counters, reply, effects)
    counters.acks += sum(result is not DeleteResult.NOT_FOUND for result in reply)


def _expiry(counters: StreamCounters, reply: ExpiryReply, effects: Sequence[e.Effect]) -> None:
    note_effects(counters, reply, effects)
    counters.consumers_expired += reply.consumers


Note = Callable[[StreamCounters, Any, Sequence[e.Effect]], None]

NOTES: Final[dict[type[c.Command], Note]] = {
    c.Append: _append,
    c.Range: _range,
    c.Read: _read,
    c.ReadGroup: _group_read,
    c.Acknowledge: _ack,
    c.AcknowledgeAndDelete: _ack_and_delete,
    c.ExpireConsumers: _expiry,
}
"""The counting functions that need the reply. All other commands use `note_effects`."""
