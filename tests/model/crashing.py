"""A state machine on a data directory that crashes, under a clock that steps.

It owns what the stateful tests of policies have in common: the directory, the steps of the clock, crashes
with and without a checkpoint, and the settings of a run. Each test has its own model and rules.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any, Final

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from tailrace.core import commands as c
from tests.unit.test_storage import Disk

EXAMPLES: Final = int(os.environ.get("TESTS_MODEL_EXAMPLES", "60")) // 5
IN_CI: Final = os.environ.get("CI", "").lower() in {"1", "true"}


class Crashing(RuleBasedStateMachine):
    """`disk`: the engine with its data directory. `now_ms`: the clock. A machine calls `begin` first."""

    disk: Disk
    now_ms: int

    def begin(self, now_ms: int) -> None:
        """Make an empty data directory, and set the clock."""
        self.directory = tempfile.TemporaryDirectory()
        self.now_ms = now_ms
        self.open()

    def open(self) -> None:
        """Recover the engine from the data directory."""
        self.disk = Disk(Path(self.directory.name))

    def teardown(self) -> None:
        if hasattr(self, "disk"):
            self.disk.close()
            self.directory.cleanup()

    def execute(self, command: c.Command, *, survives: bool = True) -> Any:
        """Run a command; its effects are one row of the journal, unless the crash comes before."""
        outcome = self.disk.engine.execute(command, self.now_ms)
        if survives:
            self.disk.write(outcome.effects)
        return outcome.reply

    def step_clock(self, elapsed_ms: int) -> None:
        """Move the clock, forward or back."""
        self.now_ms += elapsed_ms

    @rule(elapsed_ms=st.sampled_from((0, 1, 5, 40, 60, 1_500, -40, -2_000)))
    def the_clock_steps(self, elapsed_ms: int) -> None:
        self.step_clock(elapsed_ms)

    @rule(with_checkpoint=st.booleans())
    def crash(self, *, with_checkpoint: bool) -> None:
        if with_checkpoint:
            self.disk.checkpoint()
        self.disk.close()
        self.open()


def settings_of_a_run(steps: int) -> settings:
    """Return the settings of a test whose examples have at most so many steps."""
    return settings(
        max_examples=EXAMPLES,
        stateful_step_count=steps,
        derandomize=IN_CI,
        print_blob=True,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
