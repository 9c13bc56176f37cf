"""Completion in bash and zsh: the scripts install, and complete commands, options and keys of streams."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import httpx
import pytest

from tests.cli.shell import environment, shell
from tests.support.server_process import TAILRACE


def completed(url: str, line: str) -> list[str]:
    """The words that the bash script would get for `line`."""
    words = line.split(" ")
    answer = subprocess.run(
        [TAILRACE],
        env=environment(
            _TAILRACE_COMPLETE="complete_bash",
            COMP_WORDS=line,
            COMP_CWORD=str(len(words) - 1),
            TAILRACE_URL=url,
        ),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return answer.stdout.split()


def test_commands_options_and_keys_complete(base_url: str) -> None:
    shell(base_url, "cli", "XADD", "completed-by-shell", "*", "a", "b")
    assert completed(base_url, "tailrace im") == ["import"]
    assert "--stream" in completed(base_url, "tailrace import f --st")
    assert completed(base_url, "tailrace tail completed-by") == ["completed-by-shell"]
    assert completed(base_url, "tailrace export completed-by") == ["completed-by-shell"]
    assert completed(base_url, "tailrace import f --stream completed-by") == ["completed-by-shell"]


def test_a_key_completes_among_thousands_of_others(base_url: str) -> None:
    commands = [["XADD", f"completed-among-{number}", "*", "a", "b"] for number in range(1_500)]
    httpx.post(f"{base_url}/v1/command/pipeline", json=commands).raise_for_status()
    assert completed(base_url, "tailrace tail completed-among-1234") == ["completed-among-1234"]


def test_without_a_server_no_key_completes_and_nothing_is_said() -> None:
    assert completed("http://127.0.0.1:1", "tailrace tail completed-by") == []


@pytest.mark.parametrize("shell_name", ["bash", "zsh"])
def test_the_script_for_a_shell_is_shown(shell_name: str) -> None:
    script = subprocess.run(
        [TAILRACE],
        env=environment(_TAILRACE_COMPLETE=f"source_{shell_name}"),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout
    assert f"complete_{shell_name}" in script
    if (program := shutil.which(shell_name)) is not None:
        subprocess.run([program, "-n"], input=script, text=True, check=True)


def test_installing_it_makes_bash_complete(base_url: str, tmp_path: Path) -> None:
    extra = {"HOME": str(tmp_path), "SHELL": "/bin/bash"}
    # Bash replaces itself by a last command. The installation looks for the shell among its parents.
    installing = f"{TAILRACE} --install-completion bash; exit $?"
    bash = ["bash", "-c"]
    subprocess.run([*bash, installing], env=environment(**extra), check=True, capture_output=True)
    asking = (
        "source ~/.bashrc; COMP_WORDS=(tailrace tail completed-in-b); COMP_CWORD=2; "
        '_tailrace_completion tailrace; echo "${COMPREPLY[@]}"'
    )
    shell(base_url, "cli", "XADD", "completed-in-bash", "*", "a", "b")
    path = f"{TAILRACE.parent}:/usr/bin:/bin"
    answer = subprocess.run(
        [*bash, asking],
        env=environment(**extra, PATH=path, TAILRACE_URL=base_url),
        check=True,
        capture_output=True,
        text=True,
    )
    assert answer.stdout.split() == ["completed-in-bash"]
