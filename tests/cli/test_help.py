"""The list of commands: complete, and shown without importing a command."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys

import pytest
import typer

from tailrace.app.cli import application, load_command
from tests.cli.shell import environment, shell

COMMANDS = typer.main.get_group(application)


@pytest.mark.parametrize("name", COMMANDS.commands)
def test_the_list_of_commands_shows_the_first_paragraph_of_each_help(name: str) -> None:
    first, *_ = inspect.cleandoc(load_command(name).help).split("\n\n")
    assert COMMANDS.commands[name].help == first.replace("\n", " ")


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
