"""The prompt of `tailrace cli` on a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.shell import Terminal, shell

CTRL_C = "\x03"
CTRL_D = "\x04"
UP = "\x1b[A"


@pytest.fixture
def prompt(base_url: str) -> str:
    return f"{base_url.removeprefix('http://')}>"


def test_replies_are_formatted_and_errors_are_red(base_url: str, prompt: str, tmp_path: Path) -> None:
    with Terminal(base_url, "cli", state=tmp_path) as terminal:
        terminal.shown(prompt)
        terminal.type("ECHO 'two words'\r")
        terminal.shown('"two words"')
        terminal.type("XLEN\r")
        terminal.shown("(error) ERR wrong number of arguments")
        assert b"\x1b[31m(error) ERR" in terminal.raw
        terminal.type("exit\r")
        assert terminal.wait() == 0


def test_commands_subcommands_and_keys_are_completed(base_url: str, prompt: str, tmp_path: Path) -> None:
    shell(base_url, "cli", "XADD", "prompt:completed", "1-1", "a", "b")
    with Terminal(base_url, "cli", state=tmp_path) as terminal:
        terminal.shown(prompt)
        terminal.type("xle\t")
        terminal.shown("n key")
        terminal.type(" prompt:\t")
        terminal.shown("completed")
        terminal.type("\r")
        terminal.shown("(integer) 1")
        terminal.type("XGROUP CREATEC\t")
        terminal.shown("ONSUMER key group consumer")


def test_ctrl_c_gives_up_a_waiting_read_and_the_prompt_lives(
    base_url: str, prompt: str, tmp_path: Path
) -> None:
    with Terminal(base_url, "cli", state=tmp_path) as terminal:
        terminal.shown(prompt)
        terminal.type("XREAD BLOCK 0 STREAMS prompt:waiting $\r")
        while "blocked_clients:0" in shell(base_url, "cli", "INFO", "clients").stdout.decode():
            """It is sent."""
        terminal.type(CTRL_C)
        terminal.shown(prompt)
        terminal.type("PING\r")
        terminal.shown("PONG")
        while "blocked_clients:0" not in shell(base_url, "cli", "INFO", "clients").stdout.decode():
            """Wait until the server notices that the client no longer waits."""
        terminal.type(CTRL_D)
        assert terminal.wait() == 0


def test_a_transaction_shows_in_the_prompt_and_runs_at_exec(
    base_url: str, prompt: str, tmp_path: Path
) -> None:
    with Terminal(base_url, "cli", state=tmp_path) as terminal:
        terminal.shown(prompt)
        terminal.type("MULTI\r")
        terminal.shown("(TX)>")
        terminal.type("XADD prompt:multi 1-1 a b\r")
        terminal.shown("QUEUED")
        terminal.type("XLEN prompt:multi\r")
        terminal.shown("QUEUED")
        terminal.type("EXEC\r")
        assert '1) "1-1"' in terminal.shown("2) (integer) 1")


def test_history_is_kept_but_no_secret(base_url: str, prompt: str, tmp_path: Path) -> None:
    history = tmp_path / "tailrace" / "cli_history"
    secret = "trt_not-a-real-one"  # noqa: S105
    with Terminal(base_url, "cli", "--token", secret, state=tmp_path) as terminal:
        terminal.shown(prompt)
        for line in ("ECHO kept", f"ECHO {secret}", "AUTH someone something"):
            terminal.type(f"{line}\r")
            terminal.shown(prompt)
            terminal.type("PING\r")
            terminal.shown("PONG")
        terminal.type("exit\r")
        assert terminal.wait() == 0
    written = history.read_text()
    assert "ECHO kept" in written
    assert secret not in written
    assert "someone" not in written
    assert history.stat().st_mode & 0o077 == 0
    with Terminal(base_url, "cli", state=tmp_path) as terminal:
        terminal.shown(prompt)
        terminal.type(f"{UP}{UP}\r")
        terminal.shown("PONG")


def test_help_and_clear_are_the_prompts_own(base_url: str, prompt: str, tmp_path: Path) -> None:
    with Terminal(base_url, "cli", state=tmp_path) as terminal:
        terminal.shown(prompt)
        terminal.type("help xnack\r")
        terminal.shown("Give deliveries back to the group.")
        terminal.type("help\r")
        terminal.shown("help NAME")
        terminal.type("clear\r")
        terminal.sent(b"\x1b[2J")
        terminal.shown(prompt)
