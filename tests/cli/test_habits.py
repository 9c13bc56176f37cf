"""Habits from redis-cli: `-h`, `-p`, `-r`, `-i`, `-x`, `--scan`, `--stat`, `3 PING`, `HELP`."""

from __future__ import annotations

import subprocess

import pytest

from tests.cli.shell import Background, shell
from tests.support.server_process import ServerProcess


def here(server: ServerProcess, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run `tailrace cli` with host and port as arguments; the variable names a server that does not exist."""
    there = ("cli", "-h", "127.0.0.1", "-p", str(server.port))
    return shell("http://127.0.0.1:1", *there, *arguments, stdin=stdin)


def test_host_and_port_name_the_server(server: ServerProcess) -> None:
    assert here(server, "PING").stdout == b"PONG\n"
    both = here(server, "--url", server.base_url, "PING")
    assert both.returncode == 2
    assert b"-h and -p exclude --url" in both.stderr
    v6 = shell("", "cli", "-h", "::1", "-p", "1", "PING")
    assert b"cannot reach http://[::1]:1" in v6.stderr


def test_a_host_without_a_value_asks_for_help() -> None:
    assert b"Send Redis commands" in shell("", "cli", "-h").stdout


def test_a_number_of_repetitions_must_be_positive(server: ServerProcess) -> None:
    answer = here(server, stdin=b"0 PING\nECHO on\n")
    assert answer.returncode == 1
    assert answer.stdout == b"Invalid number of repetitions: it must be 1 or more\non\n"


def test_an_endless_repetition_ends_with_ctrl_c(server: ServerProcess) -> None:
    with Background(server.base_url, "cli", "-r", "-1", "-i", "0.01", "PING") as running:
        assert running.lines(3) == ["PONG"] * 3
        assert running.interrupt() == 130


def test_scan_prints_the_keys_that_match(server: ServerProcess) -> None:
    for number in range(5):
        here(server, "XADD", f"habit:{number}", "1-1", "a", "b")
    answer = here(server, "--scan", "--pattern", "habit:[0-3]", "--count", "1")
    assert sorted(answer.stdout.split()) == [f"habit:{number}".encode() for number in range(4)]
    json = here(server, "--scan", "--pattern", "habit:4", "--json")
    assert json.stdout == b'"habit:4"\n'


def test_stat_prints_a_heading_and_a_line_an_interval(server: ServerProcess) -> None:
    lines = here(server, "--stat", "-r", "2", "-i", "0.05").stdout.decode().splitlines()
    assert lines[1].split()[:3] == ["streams", "entries", "mem"]
    first, second = (int(line.split()[5]) for line in lines[2:])
    assert 0 < first < second


def test_help_needs_no_prompt(server: ServerProcess) -> None:
    shown = here(server, "HELP", "xnack").stdout
    assert b"Give deliveries back to the group." in shown
    assert here(server, stdin=b"help xnack\n").stdout == shown
    assert b"XADD" in here(server, "help").stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--scan", "PING"], "--scan, --stat and a command exclude each other"),
        (["--scan", "--stat"], "--scan, --stat and a command exclude each other"),
        (["--pattern", "x"], "--pattern and --count need --scan"),
        (["-x"], "-x needs a command"),
        (["-p", "0"], "greater than or equal to 1"),
    ],
)
def test_options_without_an_effect_are_refused(arguments: list[str], complaint: str) -> None:
    answer = shell("", "cli", *arguments)
    assert answer.returncode == 2
    assert complaint in " ".join(answer.stderr.decode().replace("│", " ").split())
