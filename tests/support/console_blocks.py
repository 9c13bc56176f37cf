"""Console transcripts in Markdown: their steps, run against a server, and compared with what they print.

It owns what a transcript is; which page has one is its test's business. A block fenced as `console` holds
commands after ``$ `` (continued after ``> ``) and what they print. Entry ids and times differ from run to
run: an id in the transcript stands for the one that the server really gave there, and durations for any
duration. `localhost:8080` stands for the server.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

_BLOCK: Final = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ID: Final = re.compile(r"\b\d{13}-\d+\b")
_ID_OR_TIME: Final = re.compile(r"\b\d{13}(?:-\d+)?\b")
_ANY: Final = "(any)"
_ADDRESS: Final = "localhost:8080"
_WITHIN_S: Final = 30
_VOLATILE: Final = frozenset({"idle_ms", "inactive_ms", "delivered_at_ms", "request_id"})


@dataclass
class Step:
    """One command of a transcript, and what it is said to print."""

    command: str
    printed: str = ""


def steps_of(markdown: str) -> Iterator[Step]:
    """The steps of all console blocks, in order."""
    for block in _BLOCK.findall(markdown):
        step = Step("")
        for line in block.splitlines():
            if line.startswith("$ "):
                if step.command:
                    yield step
                step = Step(line[2:])
            elif line.startswith("> ") and not step.printed:
                step.command += "\n" + line[2:]
            else:
                step.printed += line + "\n"
        yield step


@dataclass
class Ids:
    """Which id of the transcript stands for which one of this run."""

    real: dict[str, str] = field(default_factory=dict)

    def learn(self, transcript: str, printed: str) -> None:
        """Pair the ids of both texts in their order, where they hold equally many."""
        written, given = _ID.findall(transcript), _ID.findall(printed)
        if len(written) == len(given):
            for one, other in zip(written, given, strict=True):
                self.real.setdefault(one, other)
                self.real.setdefault(one.partition("-")[0], other.partition("-")[0])

    def put_into(self, text: str) -> str:
        """The text with the real ids, and with their times where a time stands alone."""
        return _ID_OR_TIME.sub(lambda found: self.real.get(found[0], found[0]), text)


def check_transcript(markdown: str, base_url: str) -> None:
    """Run all steps in order: each must succeed and print what the page says."""
    ids = Ids()
    for step in steps_of(markdown):
        printed = _run(ids.put_into(step.command), base_url)
        ids.learn(step.printed, printed)
        assert comparable(printed) == comparable(ids.put_into(step.printed)), step.command


def _run(command: str, base_url: str) -> str:
    script = command.replace(_ADDRESS, base_url.removeprefix("http://"))
    result = subprocess.run(
        ["/bin/bash", "-euo", "pipefail", "-c", script],
        capture_output=True,
        text=True,
        timeout=_WITHIN_S,
        check=False,
    )
    assert result.returncode == 0, f"{script}\n{result.stderr}"
    return result.stdout


def comparable(text: str) -> Any:
    """The text parsed, without what differs from run to run; lines that are no JSON as they are."""
    try:
        return _steady(msgspec.json.decode(text))
    except msgspec.DecodeError:
        return [_steady_line(line) for line in text.strip().splitlines()]


def _steady_line(line: str) -> Any:
    try:
        return _steady(msgspec.json.decode(line))
    except msgspec.DecodeError:
        return line.strip()


def _steady(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: _ANY if name in _VOLATILE and item is not None else _steady(item)
            for name, item in value.items()
        }
    if isinstance(value, list):
        return [_steady(item) for item in value]
    return value
