"""Contexts: which server and token a command uses, and the file that stores them."""

from __future__ import annotations

import json
import stat
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.cli.shell import environment
from tests.support.server_process import ServerProcess, running_server, tailrace
from tests.support.tokens import make_token

SECRET = "trt_a-secret-that-is-never-shown"  # noqa: S105


class User:
    """A user with a configuration directory."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.file = home / "tailrace" / "contexts.json"

    def run(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return tailrace(*arguments, environment=environment(XDG_CONFIG_HOME=str(self.home), **variables))

    def does(self, *arguments: str, **variables: str) -> str:
        answer = self.run(*arguments, **variables)
        assert (answer.returncode, answer.stderr) == (0, "")
        return answer.stdout

    def chosen(self, **variables: str) -> tuple[str, str]:
        """Which server commands use, and what chose it."""
        shown = json.loads(self.does("context", "show", "--json", **variables))
        return shown["url"], shown["chosen_by"]


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path / "config")


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ServerProcess, str]]:
    """A server that requires a token, and the token."""
    directory = tmp_path_factory.mktemp("guarded")
    token = make_token(directory / "tokens.json", "read")
    with running_server(directory, "--tokens-file", str(directory / "tokens.json")) as server:
        yield server, token


def test_the_first_of_argument_variables_and_context_names_the_server(user: User) -> None:
    assert user.chosen() == ("http://127.0.0.1:8080", "default")
    user.does("context", "add", "one", "--url", "localhost:1", "--use")
    user.does("context", "add", "two", "--url", "https://two.example")
    assert user.chosen() == ("http://localhost:1", "tailrace context use")
    assert user.chosen(TAILRACE_PORT="7") == ("http://127.0.0.1:7", "TAILRACE_PORT")
    by_context = {"TAILRACE_PORT": "7", "TAILRACE_CONTEXT": "two"}
    assert user.chosen(**by_context) == ("https://two.example", "TAILRACE_CONTEXT")
    assert user.chosen(**by_context, TAILRACE_URL="three:3") == ("http://three:3", "TAILRACE_URL")


def test_an_argument_overrides_every_variable(user: User, base_url: str) -> None:
    user.does("context", "add", "here", "--url", base_url)
    user.does("context", "add", "elsewhere", "--url", "127.0.0.1:1", "--use")
    elsewhere = {"TAILRACE_URL": "127.0.0.1:1", "TAILRACE_CONTEXT": "elsewhere"}
    user.does("ls", "--context", "here", **elsewhere)
    user.does("ls", "--url", base_url, **elsewhere)
    assert user.does("cli", "--context", "here", "PING", **elsewhere) == "PONG\n"
    assert user.run("ls").returncode == 1
    both = user.run("ls", "--url", base_url, "--context", "here")
    assert both.returncode == 2
    assert "exclude each other" in both.stderr


def test_a_token_is_read_from_its_file_or_variable_and_never_stored_or_shown(
    user: User, guarded: tuple[ServerProcess, str], tmp_path: Path
) -> None:
    server, token = guarded
    file = tmp_path / "token"
    file.write_text(token)
    printed = user.does("context", "add", "file", "--url", server.base_url, "--token-file", str(file))
    printed += user.does("context", "add", "variable", "--url", server.base_url, "--token-variable", "MINE")
    user.does("ls", "--context", "file")
    user.does("ls", "--context", "variable", MINE=token)
    printed += user.does("context", "list") + user.does("context", "list", "--json")
    printed += user.does("context", "show", "file") + user.does("context", "show", MINE=token)
    unset = user.run("ls", "--context", "variable")
    assert unset.returncode == 1
    assert "in the variable MINE, which is not set" in unset.stderr
    assert token not in printed + unset.stderr + user.file.read_text()


def test_a_context_keeps_its_token_and_an_argument_replaces_it(
    user: User, guarded: tuple[ServerProcess, str], tmp_path: Path
) -> None:
    server, token = guarded
    (tmp_path / "right").write_text(token)
    (tmp_path / "wrong").write_text(SECRET)
    user.does("context", "add", "right", "--url", server.base_url, "--token-file", str(tmp_path / "right"))
    user.does("context", "add", "wrong", "--url", server.base_url, "--token-file", str(tmp_path / "wrong"))
    user.does("context", "add", "none", "--url", server.base_url)
    assert user.run("ls", "--context", "right", TAILRACE_TOKEN=SECRET).returncode == 0
    assert user.run("ls", "--context", "wrong", TAILRACE_TOKEN=token).returncode == 1
    assert user.run("ls", "--context", "wrong", "--token", token).returncode == 0
    assert user.run("ls", "--context", "none", TAILRACE_TOKEN=token).returncode == 0
    # The token of the context in use is not sent to the server of an argument.
    user.does("context", "use", "right")
    assert user.run("ls").returncode == 0
    assert user.run("ls", "--url", server.base_url).returncode == 1


def test_only_the_owner_can_read_the_file(user: User) -> None:
    user.does("context", "add", "one", "--url", "localhost:1")
    assert stat.S_IMODE(user.file.stat().st_mode) == 0o600
    user.file.chmod(0o644)
    user.does("context", "add", "two", "--url", "localhost:2")
    assert stat.S_IMODE(user.file.stat().st_mode) == 0o600
    assert stat.S_IMODE(user.file.parent.stat().st_mode) == 0o700


def test_changes_at_the_same_time_lose_no_context(user: User) -> None:
    names = [f"c{number}" for number in range(6)]
    with ThreadPoolExecutor(len(names)) as users:
        list(users.map(lambda name: user.does("context", "add", name, "--url", "localhost:1"), names))
    rows = user.does("context", "list").splitlines()
    assert [row.split("\t")[1] for row in rows] == names


def test_a_context_is_replaced_only_on_request_and_removed(user: User) -> None:
    user.does("context", "add", "one", "--url", "localhost:1", "--use")
    again = user.run("context", "add", "one", "--url", "localhost:2")
    assert again.returncode == 1
    assert "use --overwrite to replace it; nothing was changed" in again.stderr
    user.does("context", "add", "one", "--url", "localhost:2", "--overwrite")
    assert user.does("context", "list") == "*\tone\thttp://localhost:2\t-\n"
    user.does("context", "rm", "one")
    assert user.chosen() == ("http://127.0.0.1:8080", "default")
    user.does("context", "add", "one", "--url", "localhost:1", "--use")
    user.does("context", "use", "--none")
    assert user.chosen() == ("http://127.0.0.1:8080", "default")


@pytest.mark.parametrize(
    ("arguments", "status", "complaint"),
    [
        (["context", "add", "a b", "--url", "x"], 2, "'a b' is not a name"),
        (["context", "add", "a", "--url", "ftp://x"], 2, "is not a URL like"),
        (["context", "add", "a", "--url", "http://me:pw@x"], 2, "a context stores no secrets"),
        (["context", "add", "a", "--url", "x", "--token-variable", "trt_a-b"], 2, "not a token"),
        (["context", "use"], 2, "give either NAME or --none"),
        (["context", "use", "a"], 1, "there is no context 'a'; the contexts are: none"),
        (["context", "rm", "a"], 1, "there is no context 'a'"),
        (["ls", "--context", "a"], 1, "there is no context 'a'"),
    ],
)
def test_wrong_input_is_named_and_changes_nothing(
    user: User, arguments: list[str], status: int, complaint: str
) -> None:
    answer = user.run(*arguments)
    assert answer.returncode == status
    assert complaint in " ".join(answer.stderr.replace("│", " ").split())
    assert not user.file.exists()


def test_a_damaged_file_is_named_and_an_argument_still_works(user: User, base_url: str) -> None:
    user.file.parent.mkdir(parents=True)
    user.file.write_text('{"current": 7}')
    answer = user.run("ls")
    assert answer.returncode == 1
    assert answer.stderr.startswith(f"tailrace: {user.file} is damaged")
    assert user.run("context", "add", "a", "--url", "x").returncode == 1
    assert user.file.read_text() == '{"current": 7}'
    assert user.run("ls", "--url", base_url).returncode == 0


def test_names_of_contexts_and_the_keys_of_their_servers_complete(user: User, base_url: str) -> None:
    user.does("context", "add", "here", "--url", base_url)
    user.does("append", "context-key", "a=b", "--context", "here")

    def completed(line: str) -> list[str]:
        words = len(line.split(" ")) - 1
        variables = {"COMP_WORDS": line, "COMP_CWORD": str(words), "_TAILRACE_COMPLETE": "complete_bash"}
        return user.does(**variables).split()

    assert completed("tailrace ls --context he") == ["here"]
    assert completed("tailrace context use he") == ["here"]
    assert completed("tailrace info --context here context-k") == ["context-key"]
