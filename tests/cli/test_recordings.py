"""The recordings on the page of the command line are what the commands print on a terminal today."""

from __future__ import annotations

import re

import typer

from tailrace.app.cli import application
from tests.support.pages import text_of
from tests.support.recordings import PAGE, SCENES, comparable, on_page, recorded


def test_every_recording_on_the_page_is_what_a_terminal_shows() -> None:
    # The lines of a pipe's standard output and standard error come in either order.
    for scene, text in recorded():
        shown, written = comparable(scene, text), comparable(scene, on_page(scene.name))
        assert sorted(shown) == sorted(written), scene.name


def test_every_command_is_recorded() -> None:
    recordings = "\n".join(on_page(scene.name) for scene in SCENES)
    commands = typer.main.get_group(application).commands
    patterns = {name: rf"^\$ .*tailrace {name}\b" for name in commands}
    assert not [name for name, each in patterns.items() if not re.search(each, recordings, re.MULTILINE)]


def test_the_page_has_no_recording_that_is_not_made() -> None:
    names = re.findall(r"<!-- recording: (\S+) -->", text_of(PAGE))
    assert sorted(names) == sorted(scene.name for scene in SCENES)
