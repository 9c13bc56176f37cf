"""The archive job as a program: its command line, its progress, its errors."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from tailrace_client import Tailrace
from tailrace_spark import archive_job, archive_stream
from tailrace_spark.archive.job import ENTRIES_PER_STEP, Progress, Trimming
from tests.spark.queries import WITHIN_S
from tests.spark.spark_processes import environment
from tests.support.server_process import running_server


def test_the_help_has_every_argument_of_the_function_with_its_choices_and_default(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        archive_job.main(["--help"])
    assert ended.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    parameters = set(inspect.signature(archive_stream).parameters) - {"spark", "options"}
    for name in parameters | {"token_env", "token_file", "ca_file", "option"}:
        assert f"--{name.replace('_', '-')}" in text
    assert all(choice in text for choice in get_args(Trimming))
    assert f"default: {ENTRIES_PER_STEP}" in text
    assert "exit status:" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--stream", "s"], "required: --url, --path"),
        (["--url", "u", "--stream", "s", "--path", "p", "--trim", "some"], "invalid choice: 'some'"),
        (["--url", "u", "--stream", "s", "--path", "p", "--option", "x"], "'x' is not NAME=VALUE"),
    ],
)
def test_a_wrong_command_line_is_refused_before_spark_starts(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        archive_job.main(arguments)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_progress_counts_steps_and_percent() -> None:
    progress = Progress(entries=2_500, entries_per_step=1_000)
    assert str(progress) == "0 of 3 steps, 0 of 2500 entries, 0 %"
    progress.add_step(1_000)
    assert str(progress) == "1 of 3 steps, 1000 of 2500 entries, 40 %"
    progress.add_step(1_000)
    progress.add_step(500)
    assert str(progress) == "3 of 3 steps, 2500 of 2500 entries, 100 %"
    assert str(Progress(0, 1_000)) == "0 of 0 steps, 0 of 0 entries, 100 %"


@pytest.mark.long
def test_the_program_logs_its_progress_prints_its_report_and_says_in_one_line_what_stops_it(
    tmp_path: Path,
) -> None:
    with running_server(tmp_path) as server:
        with Tailrace(server.base_url) as tailrace:
            tailrace.stream("s").append_many({"n": str(n)} for n in range(1_000))
        arguments = [
            "--url",
            server.base_url,
            "--path",
            str(tmp_path / "archive"),
            "--entries-per-step",
            "250",
        ]
        done = run(*arguments, "--stream", "s", "--option", "minPartitions=2")
        stopped = run(*arguments, "--stream", "other")
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout.startswith("1000 entries in 4 steps")
    assert "1 of 4 steps, 250 of 1000 entries, 25 %" in done.stderr
    assert "4 of 4 steps, 1000 of 1000 entries, 100 %" in done.stderr
    assert "HTTP Request" not in done.stderr
    assert stopped.returncode == 1
    assert "archive_job: " in stopped.stderr
    assert "holds the stream 's', not 'other'; use another path" in stopped.stderr
    assert "Traceback" not in stopped.stderr


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tailrace_spark.archive_job", *arguments],
        env=environment("127.0.0.1"),
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
