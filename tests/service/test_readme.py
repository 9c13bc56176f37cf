"""The README's transcripts, run against a fresh server: what stands there is what happens."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.support.console_blocks import Ids, comparable, steps_of
from tests.support.server_process import running_server

README = Path(__file__).parents[2] / "README.md"
ADDRESS_IN_README = "localhost:8080"
STEPS_AT_LEAST = 20


def test_every_command_of_the_readme_prints_what_the_readme_says(tmp_path: Path) -> None:
    ids = Ids()
    steps = list(steps_of(README.read_text()))
    assert len(steps) >= STEPS_AT_LEAST
    with running_server(tmp_path) as server:
        for step in steps:
            printed = _run(step.command, server.base_url, ids)
            ids.learn(step.printed, printed)
            assert comparable(printed) == comparable(ids.put_into(step.printed)), step.command


def _run(command: str, base_url: str, ids: Ids) -> str:
    address = base_url.removeprefix("http://")
    script = ids.put_into(command).replace(ADDRESS_IN_README, address)
    result = subprocess.run(
        ["/bin/bash", "-euo", "pipefail", "-c", script],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert result.returncode == 0, f"{script}\n{result.stderr}"
    return result.stdout
