"""The list of commands: complete, and shown without importing a command."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from rich.emoji import Emoji

from tailrace.app.cli import application, load_command
from tests.cli.shell import environment, shell

COMMANDS = typer.main.get_group(application)


@pytest.mark.parametrize("name", COMMANDS.commands)
def test_the_list_of_commands_shows_the_first_paragraph_of_each_help(name: str) -> None:
    first, *_ = inspect.cleandoc(load_command(name).help).split("\n\n")
    assert COMMANDS.commands[name].help == first.replace("\n", " ")


def all_commands(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    """The command and its subcommands, each with its name."""
    yield name, command
    for sub_name, found in getattr(command, "commands", {}).items():
        yield from all_commands(found, f"{name} {sub_name}")


@pytest.mark.parametrize("name", COMMANDS.commands)
def test_help_shows_no_key_as_an_emoji(name: str) -> None:
    """Rich replaces `:france:` by a flag, so a copied command would name another stream."""
    for full_name, command in all_commands(load_command(name), name):
        texts = [command.help, *(getattr(parameter, "help", None) for parameter in command.params)]
        assert [text for text in texts if text and Emoji.replace(text) != text] == [], full_name


@pytest.mark.parametrize("words", [(), ("trim",), ("context", "add"), ("group",), ("consumer", "delete")])
def test_help_shows_no_flag_as_if_a_value_followed(words: tuple[str, ...]) -> None:
    shown = shell("", *words, "--help").stdout
    assert b"--help" in shown
    assert b"bool" not in shown


def test_help_imports_no_command() -> None:
    program = (
        "import atexit, sys; atexit.register(lambda: print(sorted(sys.modules), file=sys.stderr));"
        "from tailrace.app.cli import main; sys.argv = ['tailrace', '--help']; main()"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, check=True
    )
    imported = ast.literal_eval(answer.stderr.decode())
    assert [name for name in imported if name.startswith("tailrace.")] == ["tailrace.app", "tailrace.app.cli"]
    assert not {"fastapi", "pydantic", "httpx", "uvicorn"}.intersection(imported)


def test_an_unknown_command_names_the_nearest_one() -> None:
    assert b"Did you mean 'tail'?" in shell("", "tial").stderr
