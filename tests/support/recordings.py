"""Records the commands of `docs/command-line.md` in a real tmux session, on the race example.

`make recordings` writes them into the page; `tests/cli/test_recordings.py` records again and compares.
A recording is the text of the screen. Only the address of the server is replaced, by port 8080.

What differs between two runs does not count in the comparison: in a scene with `varies`, all numbers and the
widths of columns.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from tests.support.pages import PAGES
from tests.support.server_process import TAILRACE, ServerProcess, running_server
from tests.support.tmux import Tmux

PAGE: Final = "docs/command-line.md"
COLUMNS: Final = 100
ROWS: Final = 34

_BLOCK: Final = r"<!-- recording: {name} -->\n```text\n(.*?)```\n"
_SHOWN_ADDRESS: Final = "127.0.0.1:8080"
_RIDERS: Final = "rider,speed\nCastilla,29.1\nNorem,30.4\n"

_NUMBER: Final = re.compile(r"\d[\d.,]*(?:(?:k|ms|s|m|h|d)\b)?(?:\s*(?:bytes|ms|[kMGKT]?i?B)\b)?")
_NO_NUMBER: Final = re.compile(r"(?<=\s)-(?=\s|$)")
_RANDOM: Final = re.compile(r"\b[0-9a-f]{12}\b|tlr_\S+|(?<=incarnation  )\s*\S+")
_ADDRESS: Final = re.compile(r"127\.0\.0\.1:\d+")
_SPACE: Final = re.compile(r"[ ─━]+")
_ID: Final = re.compile(r"\b\d{13}-\d+\b")
_TIME: Final = re.compile(r"\b\d{4}-\d\d-\d\d [\d:.]{8,}\b")
_RACE_ID: Final = "1692632"
_RACE_YEAR: Final = "2023-"


class Scene(NamedTuple):
    """What is typed and shown under one name. `varies`: numbers and widths differ between runs.

    `lines`: only so many lines are the same in each run; None: all of them.
    """

    name: str
    play: Callable[[Tmux], str]
    varies: bool = False
    lines: int | None = None


def _typed(*commands: str) -> Callable[[Tmux], str]:
    """Commands one after another on one screen."""

    def play(terminal: Tmux) -> str:
        terminal.clear()
        for command in commands:
            terminal.type(command)
            terminal.press("Enter")
            screen = terminal.finished()
        return screen

    return play


def _answered(command: str, question: str, answer: str) -> Callable[[Tmux], str]:
    """A command that asks."""

    def play(terminal: Tmux) -> str:
        terminal.clear()
        terminal.type(command)
        terminal.press("Enter")
        terminal.shown(question)
        terminal.type(answer)
        terminal.press("Enter")
        return terminal.finished()

    return play


def _live(command: str, *texts: str, end: str) -> Callable[[Tmux], str]:
    """A command that runs until a key ends it: its screen before that key."""

    def play(terminal: Tmux) -> str:
        terminal.clear()
        terminal.type(command)
        terminal.press("Enter")
        screen = terminal.until(lambda shown: all(text in shown for text in texts))
        terminal.press(end)
        terminal.finished()
        return screen if screen.startswith("$ ") else f"$ {command}\n{screen}"

    return play


def _prompt(terminal: Tmux) -> str:
    """The prompt of `tailrace cli`, with a hint while a command is typed."""
    terminal.clear()
    terminal.type("tailrace cli")
    terminal.press("Enter")
    terminal.shown("> ".rstrip())
    terminal.until(lambda shown: shown.endswith(">"))
    for line, reply in (("XLEN race:france", "(integer) 3"), ("2 PING", "PONG\nPONG")):
        terminal.type(line)
        terminal.press("Enter")
        terminal.shown(reply)
    terminal.type("XRANGE race:france -")
    hinted = terminal.shown("- end [COUNT count]")
    terminal.press("C-c")
    terminal.until(lambda shown: "[COUNT" not in shown)
    terminal.type("exit")
    terminal.press("Enter")
    terminal.finished()
    return hinted


APPEND: Final = (
    "tailrace append race:france --id 1692632086370-0 rider=Castilla speed=30.2",
    "tailrace append race:france --id 1692632094485-0 rider=Norem speed=28.8",
    "tailrace append race:france --id 1692632102976-0 rider=Prickett speed=29.7",
)

SCENES: Final = (
    Scene("append", _typed(*APPEND)),
    Scene("ls", _typed("tailrace ls", "tailrace ls | cut -f 1,2")),
    Scene("info", _typed("tailrace info race:france")),
    Scene(
        "read",
        _typed(
            "tailrace read race:france",
            "tailrace read race:france --last 1 --json",
            "tailrace read race:france 1692632094485-0 | cat",
        ),
    ),
    Scene("cli", _prompt),
    Scene(
        "cli-arguments",
        _typed(
            "tailrace cli XGROUP CREATE race:france judges 0",
            "tailrace cli XREADGROUP GROUP judges alice STREAMS race:france '>' > /dev/null",
            "tailrace cli --scan --pattern 'race:*'",
            "tailrace cli -r 2 XLEN race:france",
            "echo 'from a pipe' | tailrace cli -x ECHO",
        ),
    ),
    Scene("groups", _typed("tailrace groups race:france")),
    Scene("consumers", _typed("tailrace consumers race:france judges"), varies=True),
    Scene("pending", _typed("tailrace pending race:france judges"), varies=True),
    Scene("ack", _typed("tailrace ack race:france judges 1692632086370-0")),
    Scene("nack", _typed("tailrace nack race:france judges 1692632094485-0")),
    Scene("claim", _typed("tailrace claim race:france judges bob 1692632094485-0 1692632102976-0")),
    Scene("extend", _typed("tailrace extend race:france judges bob 1692632094485-0 1692632102976-0")),
    Scene(
        "group",
        _typed(
            "tailrace group create race:france press --after 0",
            "tailrace group seek race:france press 1692632094485-0",
            "tailrace cli XGROUP CREATECONSUMER race:france press carol > /dev/null",
            "tailrace consumer delete race:france press carol",
            "tailrace group delete race:france press --yes",
        ),
    ),
    Scene(
        "redrive",
        _typed(
            "tailrace configure race:france judges --max-deliveries 1 --dead-letter-stream race:france:dead "
            "| cut -c -60",
            "tailrace nack race:france judges 1692632094485-0",
            "tailrace cli XREADGROUP GROUP judges bob CLAIM 0 STREAMS race:france '>' > /dev/null",
            "tailrace read race:france:dead --json | cut -c -60",
            "tailrace redrive race:france:dead",
        ),
        varies=True,
    ),
    Scene("tail", _typed("tailrace tail race:france -n 2 --format '{id} {rider}'"), varies=True),
    Scene("tail-f", _live("tailrace tail -f race:france -n 1", "rider=", end="C-c"), varies=True),
    Scene("top", _live("tailrace top -i 1", "race:france", "q: quit", end="q"), varies=True),
    Scene("stats", _live("tailrace stats -i 1", "commit p99", "q: quit", end="q"), varies=True),
    Scene("slowlog", _typed("tailrace slowlog --clear", "tailrace slowlog -n 2"), lines=4),
    Scene("bench", _typed("tailrace bench append batch wakeup -n 300"), varies=True),
    Scene(
        "context",
        _typed(
            "tailrace context add local --url 127.0.0.1:8080 --use",
            "tailrace context add prod --url https://tailrace.example.com --token-variable PROD_TOKEN",
            "tailrace context list",
            "env -u TAILRACE_URL tailrace context show",
            "tailrace context rm prod",
        ),
    ),
    Scene("import", _typed("cat riders.csv", "tailrace import riders.csv --stream race:italy"), varies=True),
    Scene(
        "import-again",
        _answered("tailrace import riders.csv --stream race:italy", "[y/N]", "n"),
        varies=True,
    ),
    Scene(
        "export", _typed("tailrace export race:italy riders.ndjson", "cut -c 25- riders.ndjson"), varies=True
    ),
    Scene(
        "retention",
        _typed(
            "tailrace retention race:france --max-age 36500d --protect-unread | cut -c -60",
            "tailrace retention race:france --remove",
        ),
    ),
    Scene(
        "scheduled",
        _typed(
            "tailrace append race:france --delay 1d rider=Castilla > /dev/null",
            "tailrace scheduled race:france | cut -f 3",
        ),
    ),
    Scene("trim", _answered("tailrace trim race:france --max-length 1", "[y/N]", "y")),
    Scene("rm", _answered("tailrace rm race:italy", "[y/N]", "y")),
    Scene(
        "data",
        _typed("tailrace check data", "tailrace backup data monday", "tailrace restore monday again"),
        varies=True,
    ),
    Scene("migrate", _typed("tailrace migrate monday moved"), varies=True),
    Scene(
        "token",
        _typed(
            "tailrace token create reader --scope read --data-dir again > reader.token",
            "cut -c -16 reader.token",
            "tailrace token list --data-dir again",
            "tailrace token revoke reader --data-dir again",
        ),
        varies=True,
    ),
    Scene("openapi", _typed("tailrace openapi | head -n 3", "tailrace version"), varies=True),
    Scene(
        "serve",
        _live("tailrace serve --port 0 --data-dir again 2> log", "is ready on", end="C-c"),
        varies=True,
    ),
)


def recorded() -> Iterator[tuple[Scene, str]]:
    """Record all scenes in order, in one session with one server; yield each with its text."""
    with tempfile.TemporaryDirectory(prefix="tailrace-recording-") as name:
        directory = Path(name)
        (directory / "riders.csv").write_text(_RIDERS)
        with (
            running_server(directory, "--slow-log-ms", "0") as server,
            _session(directory, server) as terminal,
        ):
            for scene in SCENES:
                text = scene.play(terminal).removesuffix("\n$")
                yield scene, _ADDRESS.sub(_SHOWN_ADDRESS, text)


def _session(directory: Path, server: ServerProcess) -> Tmux:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TAILRACE_")}
    variables = {
        **kept,
        "PATH": f"{TAILRACE.parent}:{os.environ['PATH']}",
        "XDG_CONFIG_HOME": str(directory / "config"),
        "XDG_STATE_HOME": str(directory / "state"),
        "TAILRACE_URL": server.base_url,
        "TZ": "UTC",
    }
    return Tmux(directory, variables, columns=COLUMNS, rows=ROWS)


def comparable(scene: Scene, text: str) -> list[str]:
    """Return the lines of a recording without what differs between two runs."""
    text = _RANDOM.sub("(random)", text)
    text = _ID.sub(lambda found: found[0] if found[0].startswith(_RACE_ID) else "(id)", text)
    text = _TIME.sub(lambda found: found[0] if found[0].startswith(_RACE_YEAR) else "(time)", text)
    if scene.varies:
        text = _NO_NUMBER.sub("#", _NUMBER.sub("#", text))
    lines = (_SPACE.sub(" ", line).strip() for line in text.splitlines())
    return [line for line in lines if line][: scene.lines]


def on_page(name: str) -> str:
    """Return the recording `name` of the page."""
    found = re.search(_BLOCK.format(name=re.escape(name)), PAGES[PAGE].read_text(), re.DOTALL)
    assert found is not None, f"{PAGE} has no recording {name!r}"
    return found[1]


def write_all() -> None:
    """Write the recordings into the page."""
    page = PAGES[PAGE].read_text()
    for scene, text in recorded():
        pattern = re.compile(_BLOCK.format(name=re.escape(scene.name)), re.DOTALL)
        assert pattern.search(page), f"{PAGE} has no place for {scene.name!r}"
        block = f"<!-- recording: {scene.name} -->\n```text\n{text}\n```\n"
        page = pattern.sub(lambda _, block=block: block, page)  # type: ignore[misc]
        sys.stdout.write(f"{scene.name}\n")
    PAGES[PAGE].write_text(page)


if __name__ == "__main__":
    write_all()
