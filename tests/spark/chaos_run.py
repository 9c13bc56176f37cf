"""A chaos run: every row once, whatever is killed.

    producers ──HTTP──▶ INPUT ──source──sink──▶ COPY ──┐
    files ──────────────────────────sink──────▶ SUNK ──┴─archive──▶ Parquet

Half of the rows take each way. While they do, the run kills the driver, Python workers, executors and the
server, each after as many entries as the plan says; it trims the input up to what is copied, and deletes
decoys. Then DuckDB counts archive and live part: each row must be there exactly once. At the end the run
provokes what must be refused: entries that are trimmed before the copy reads them, and a stream that is
deleted and created again before it is archived.

`chaos` is its command line.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from tailrace_client import Tailrace
from tests.spark.chaos_counts import Counts, counts_of
from tests.spark.chaos_driver import archive_of
from tests.spark.chaos_kills import kill_a_worker
from tests.spark.chaos_load import KilledServer, Load
from tests.spark.chaos_plan import COPY, INPUT, SUNK, Fault, Plan, with_decoys
from tests.spark.spark_processes import Driver, driver

PROGRAM: Final = "tests.spark.chaos_driver"
MASTERS: Final = ("local[2,4]", "local-cluster[2,1,1024]")
LOOKS_EVERY_S: Final = 0.4
STANDS_STILL_S: Final = 600
LAST_WITHIN_S: Final = 1_200
REFUSALS: Final = ("BadArchive", "BadOption", "BadValue", "DataLoss", "_CHANGED", "_MISMATCH", "STALE_EPOCH")
"""Words in the errors of the product that no kill may cause."""


class ChaosError(Exception):
    """The run cannot continue; the text says why."""


@dataclass
class Outcome:
    """What a run did and found. `histories`: how many entries `read_history` has. `refused`: the way and the
    error of each refusal that was provoked; `wrongs`: what must not be."""

    plan: Plan
    faults: Counter[str] = field(default_factory=Counter)
    counts: dict[str, Counts] = field(default_factory=dict)
    histories: dict[str, int] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    wrongs: list[str] = field(default_factory=list)
    duration_s: float = 0

    @property
    def is_right(self) -> bool:
        return not self.wrongs and bool(self.counts) and all(each.is_right for each in self.counts.values())


class Chaos:
    """One run in a directory of its own."""

    def __init__(self, plan: Plan, directory: Path, say: Callable[[str], object]) -> None:
        self._plan = plan
        self._say = say
        self._directory = directory
        self._chance = random.Random(plan.seed)
        self._drivers = 0
        self.outcome = Outcome(plan)

    def run(self) -> Outcome:
        began_s = time.monotonic()
        write_files(self._directory / "files", self._plan)
        server = KilledServer(self._directory)
        try:
            load = Load(server.url, self._plan)
            self._under_faults(server, load)
            self._finish(server)
            self._refusals(server)
        except ChaosError as error:
            self.outcome.wrongs.append(str(error))
        finally:
            server.end()
        self.outcome.duration_s = time.monotonic() - began_s
        return self.outcome

    def _under_faults(self, server: KilledServer, load: Load) -> None:
        """Let all three ways run, and strike at the points of the plan, until rows and points are used up."""
        points, quiet = list(self._plan.points), Quiet()
        with ExitStack() as stack, load.running():
            running = self._start(stack, server)
            while points or not load.is_produced:
                quiet.check(entries := load.look())
                if running.has_ended:
                    if not running.was_killed:
                        self._judge(running)
                    running = self._start(stack, server)
                if points and entries >= points[0][0] and self._strike(points[0][1], running, server, load):
                    points.pop(0)
            running.kill()
            if load.failures:
                raise ChaosError(f"a producer failed: {load.failures[0]!r}")
        self.outcome.faults["entries deleted"] = load.deleted
        self.outcome.faults["entries trimmed from the input"] = load.trimmed

    def _strike(self, fault: Fault, running: Driver, server: KilledServer, load: Load) -> bool:
        """Do it, and return whether it was possible."""
        kind: str | None = fault.value
        match fault:
            case Fault.DRIVER:
                running.kill()
            case Fault.SERVER:
                server.kill()
            case Fault.TRIM:
                kind = kind if load.trim() else None
            case Fault.WORKER:
                kind = kill_a_worker(running.pid, self._chance)
        if kind is not None:
            name = f"{kind} killed" if fault is Fault.WORKER else kind
            self.outcome.faults[name] += 1
            self._say(f"{name}: {self.outcome.faults[name]}, after {sum(load.added.values())} entries")
        return kind is not None

    def _start(self, stack: ExitStack, server: KilledServer, **more: object) -> Driver:
        self._drivers += 1
        return stack.enter_context(self._driver(server, **more))

    def _driver(self, server: KilledServer, **more: object) -> AbstractContextManager[Driver]:
        plan = self._plan
        options: dict[str, object] = {
            "master": self._chance.choice(MASTERS),
            "url": server.url,
            "directory": self._directory,
            "batch_rows": plan.batch_rows,
            "chunk_rows": plan.chunk_rows,
            "step_entries": plan.step_entries,
        }
        return driver(PROGRAM, self._directory / f"driver-{self._drivers}.log", {}, **options, **more)

    def _judge(self, ended: Driver) -> None:
        """A driver that was not killed has ended: too many of its tasks died, or the product refused."""
        printed = ended.printed()
        text = " ".join(str(each) for each in printed) or "nothing printed"
        if printed and any(word in text for word in REFUSALS):
            raise ChaosError(f"refused without cause: {text[:2000]}")
        self.outcome.faults["drivers ended by kills of others"] += bool(printed)
        self._say(f"the driver ended and is started again: {text[:300]}")
        if self._drivers > len(self._plan.points) + 5:
            raise ChaosError(f"drivers end again and again: {text[:2000]}")

    def _finish(self, server: KilledServer) -> None:
        self._say("the last driver does what is left")
        self._drivers += 1
        with self._driver(server, finish=1) as last:
            done = {each["way"]: each for each in printed_by(last)}
        if bad := [each for each in done.values() if "error" in each]:
            raise ChaosError(f"the last driver failed: {str(bad)[:3000]}")
        self.outcome.histories = done["archive"]["did"]
        for stream in (SUNK, COPY):
            counts = counts_of(server.url, stream, archive_of(self._directory, stream), self._plan.rows)
            self.outcome.counts[stream] = counts
            if self.outcome.histories[stream] != counts.archived + counts.live:
                self.outcome.wrongs.append(f"read_history of {stream} differs from the count of DuckDB")

    def _refusals(self, server: KilledServer) -> None:
        self._say("what must be refused")
        with Tailrace(server.url) as tailrace:
            tailrace.stream(INPUT).append_many({"n": "0", "rider": "late"} for _ in range(9))
            tailrace.stream(INPUT).trim(max_length=1, approximate=False)
            tailrace.stream(SUNK).delete()
            tailrace.stream(SUNK).append({"n": "0", "rider": "of another stream"})
        self._drivers += 1
        with self._driver(server, finish=1, ways="copy,archive") as last:
            printed = printed_by(last)
        with Tailrace(server.url) as tailrace:
            if tailrace.stream(SUNK).length() != 1:
                self.outcome.wrongs.append("an entry of another stream was trimmed")
        for each in printed:
            text = f"{each.get('error', 'nothing')}: {each.get('text', '')}"
            _, name, what = text.partition("DataLoss: ")
            if name:
                self.outcome.refused[each["way"]] = name + what.partition("\n")[0]
            else:
                self.outcome.wrongs.append(f"{each['way']}: no DataLoss but {text[:500]}")


class Quiet:
    """Notices that no entry arrives any more."""

    def __init__(self) -> None:
        self._entries, self._since_s = -1, time.monotonic()

    def check(self, entries: int) -> None:
        """Wait a little. Raises `ChaosError`."""
        Event().wait(LOOKS_EVERY_S)
        if entries != self._entries:
            self._entries, self._since_s = entries, time.monotonic()
        if time.monotonic() - self._since_s > STANDS_STILL_S:
            raise ChaosError(f"nothing arrived for {STANDS_STILL_S} s, at {entries} entries")


def printed_by(last: Driver) -> list[dict[str, Any]]:
    """Wait for the end of a driver and return what it printed."""
    last.wait(LAST_WITHIN_S)
    return last.printed()


def write_files(directory: Path, plan: Plan) -> None:
    """The rows of the sink, in files of half a micro-batch."""
    directory.mkdir(parents=True)
    size = plan.batch_rows // 2
    for start in range(0, plan.rows, size):
        numbers = with_decoys(start, min(start + size, plan.rows))
        table = pa.table({"n": numbers, "rider": [f"rider-{n % 97}" for n in numbers]})
        pq.write_table(table, directory / f"{start:09d}.parquet")
