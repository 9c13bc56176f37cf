"""`tailrace cli` as a command: a single command, commands in a pipe, exit statuses, and errors."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tailrace.app import __version__
from tailrace.app.cli.redis.hints import USAGES
from tailrace.core.command_table import SYNTAXES
from tests.cli.shell import environment, shell
from tests.support.server_process import running_server
from tests.support.tokens import make_token


def test_one_command_is_sent_and_its_options_are_its_own(base_url: str) -> None:
    assert shell(base_url, "cli", "XADD", "cli:one", "1-1", "--json", "-n", "--raw", "x").returncode == 0
    answer = shell(base_url, "cli", "--json", "XRANGE", "cli:one", "-", "+")
    assert json.loads(answer.stdout) == [["1-1", ["--json", "-n", "--raw", "x"]]]


def test_arguments_and_replies_keep_every_byte(base_url: str) -> None:
    value = bytes(set(range(256)) - {0, 10, 13})
    assert shell(base_url, "cli", "ECHO", value).stdout == value + b"\n"


def test_json_holds_bytes_that_are_no_text_as_base64(base_url: str) -> None:
    assert shell(base_url, "cli", "--json", "ECHO", b"\xff").stdout == b'{"base64":"/w=="}\n'


def test_an_error_reply_is_printed_and_the_status_is_one(base_url: str) -> None:
    answer = shell(base_url, "cli", "--no-raw", "XLEN")
    assert answer.returncode == 1
    assert answer.stdout == b"(error) ERR wrong number of arguments for 'xlen' command\n"


def test_a_pipe_goes_on_behind_an_error_and_ends_with_status_one(base_url: str) -> None:
    answer = shell(base_url, "cli", "--no-raw", stdin=b'XLEN\n\n"open\nPING\nexit\nECHO never\n')
    assert answer.returncode == 1
    assert answer.stdout.splitlines()[1:] == [b"Invalid argument(s)", b"PONG"]


def test_an_aborted_transaction_writes_nothing(base_url: str) -> None:
    lines = b"MULTI\nXADD cli:aborted * a b\nXADD cli:aborted\nEXEC\nEXISTS cli:aborted\n"
    answer = shell(base_url, "cli", "--no-raw", stdin=lines)
    assert b"EXECABORT Transaction discarded because of previous errors." in answer.stdout
    assert answer.stdout.endswith(b"(integer) 0\n")


def test_a_server_that_is_not_there_is_one_sentence() -> None:
    answer = shell("http://127.0.0.1:1", "cli", "PING")
    assert answer.returncode == 1
    assert answer.stderr == b"tailrace: cannot reach http://127.0.0.1:1: connection refused\n"


def test_the_default_server_that_is_not_there_is_named_with_a_remedy() -> None:
    answer = shell("", "ls", extra={"TAILRACE_PORT": "1"})
    assert answer.returncode == 1
    assert answer.stderr == (
        b"tailrace: cannot reach http://127.0.0.1:1: connection refused; "
        b"`tailrace serve` starts a server there, and --url names another one\n"
    )


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["cli", "--url", "ftp://localhost", "PING"], "is not a URL like"),
        (["cli", "--json", "--raw", "PING"], "exclude each other"),
        (["cli", "--token", " ", "PING"], "the token is empty"),
        (["tail", "s", "--from", "soon"], "'soon' is not an id"),
        (["tail", "s", "--ack"], "--ack requires both"),
        (["tail", "s", "--group", "g"], "must be given together"),
        (["tail", "s", "--json", "--format", "x"], "exclude each other"),
        (["import", "-", "--stream", "s", "--id-column", "id"], "are for CSV"),
    ],
)
def test_wrong_arguments_are_named_with_status_two(
    base_url: str, arguments: list[str], complaint: str
) -> None:
    answer = shell(base_url, *arguments)
    assert answer.returncode == 2
    assert complaint in " ".join(answer.stderr.decode().replace("│", " ").split())


def test_a_token_is_shown_and_what_it_lacks_is_said(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens.json"
    secret = make_token(tokens, "read")
    (tmp_path / "token").write_text(f"{secret}\n")
    with running_server(tmp_path, "--tokens-file", str(tokens)) as server:
        without = shell(server.base_url, "cli", "XLEN", "s")
        reads = shell(server.base_url, "cli", "--token-file", str(tmp_path / "token"), "XLEN", "s")
        writes = shell(server.base_url, "cli", "XADD", "s", "*", "a", "b", extra={"TAILRACE_TOKEN": secret})
    assert (without.returncode, reads.returncode, writes.returncode) == (1, 0, 1)
    assert b"the server requires a token" in without.stderr
    assert reads.stdout == b"0\n"
    assert b"NOPERM" in writes.stdout or b"the token does not allow this" in writes.stderr


def test_the_program_runs_as_a_module_and_tells_its_version() -> None:
    answer = subprocess.run(
        [sys.executable, "-m", "tailrace", "--version"], env=environment(), capture_output=True, check=True
    )
    assert answer.stdout.decode() == f"tailrace {__version__}\n"


@pytest.mark.parametrize("command", ["cli", "tail", "import", "export"])
def test_help_has_examples_and_the_exit_status(command: str) -> None:
    shown = shell("", command, "--help").stdout.decode()
    assert "Examples" in shown
    assert f"tailrace {command} " in shown
    assert "Exit status: 0" in shown


def test_every_command_of_the_grammar_has_a_usage() -> None:
    known = {name.replace("|", " ").upper() for name in SYNTAXES}
    assert set(USAGES) == known | {"MULTI", "EXEC", "DISCARD"}
