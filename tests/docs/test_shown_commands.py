"""The commands that pages and helps show and no test runs: `bash` blocks, and the examples of `--help`.

They need another machine, a container or much time. Here bash runs them with the programs of `PRESENT` alone
and with a `tailrace` that notes its arguments, which the command line parses. Targets of make must exist.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import typer

from tailrace.app.cli import application, load_command
from tests.support.pages import PAGES, ROOT, fenced, text_of

NAMES: Final = list(typer.main.get_group(application).commands)
PRESENT: Final = ("date", "mktemp")
NOTING: Final = f"""#!{sys.executable}
import json, os, sys
with open(os.environ["NOTES"], "a") as notes:
    print(json.dumps(sys.argv[1:]), file=notes)
"""
TARGETS: Final = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
NAMED_TARGETS: Final = re.compile(r"(?:^|`)make ((?:[a-z][\w-]*(?: |$|`))+)", re.MULTILINE)


def examples_of(command: Any) -> Iterator[str]:
    """The lines of the helps of a command and its subcommands that are commands."""
    for line in (command.help or "").splitlines():
        if line.strip().startswith("tailrace "):
            yield line
    for sub_command in getattr(command, "commands", {}).values():
        yield from examples_of(sub_command)


SCRIPTS: Final = {page: "\n".join(blocks) for page in PAGES if (blocks := fenced(page, "bash"))} | {
    f"tailrace {name}": "\n".join(lines) for name in NAMES if (lines := list(examples_of(load_command(name))))
}


def accept(command: Any, name: str, words: list[str]) -> None:
    """Raise an exception if the command refuses an option, or lacks an argument."""
    with command.make_context(name, list(words)) as context:
        if hasattr(command, "commands"):
            rest = [*context._protected_args, *context.args]
            sub_name, sub_command, further = command.resolve_command(context, rest)
            accept(sub_command, sub_name, further)


@pytest.mark.parametrize("place", SCRIPTS)
def test_the_program_accepts_each_command_that_a_page_or_a_help_shows(place: str, tmp_path: Path) -> None:
    programs, notes = tmp_path / "programs", tmp_path / "notes"
    programs.mkdir()
    notes.touch()
    for name in PRESENT:
        (programs / name).symlink_to(str(shutil.which(name)))
    (programs / "tailrace").write_text(NOTING)
    (programs / "tailrace").chmod(0o755)
    done = subprocess.run(
        ["/bin/bash", "-c", SCRIPTS[place]],
        env={"PATH": str(programs), "NOTES": str(notes), "HOME": str(tmp_path)},
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "syntax error" not in done.stderr
    for line in notes.read_text().splitlines():
        name, *words = json.loads(line)
        accept(load_command(name), name, words)


def test_commands_of_pages_and_helps_are_found() -> None:
    assert SCRIPTS.keys() >= {"docs/command-line.md", "docs/security.md", "tailrace tail", "tailrace import"}


def test_each_target_of_make_that_a_page_names_exists() -> None:
    found = [names for page in PAGES for names in NAMED_TARGETS.findall(text_of(page))]
    assert {target.strip("`") for names in found for target in names.split()} <= TARGETS
