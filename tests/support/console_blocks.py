"""Shell commands in Markdown: run against a server, and their output compared with the output on the page.

Owns the form of a command and its output; a test chooses the pages. A block fenced as `sh` is one script that
a reader can paste: no prompts, no output. A block fenced as `json` or `text` directly after it is its output.
Without such a block the script must succeed, and its output is not compared.

Entry ids, times and incarnations differ between runs: an id on the page matches the id that the server issued
at that place, and a duration matches any duration. `localhost:8080` is replaced by the address of the server.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

_BLOCK: Final = re.compile(
    r"^```sh\n(.*?)^```\n(?:\n```(?:json|text)\n(.*?)^```$)?", re.MULTILINE | re.DOTALL
)
_ID: Final = re.compile(r"\b\d{13}-\d+\b")
_ID_OR_TIME: Final = re.compile(r"\b\d{13}(?:-\d+)?\b")
_ANY: Final = "(any)"
_ADDRESS: Final = "localhost:8080"
_WITHIN_S: Final = 30
_VOLATILE: Final = frozenset(
    {"idle_ms", "inactive_ms", "delivered_at_ms", "lag_ms", "request_id", "incarnation"}
)
_DECODER: Final = json.JSONDecoder()


class Step(NamedTuple):
    """One script of a page, and its output on the page; None if the page shows no output."""

    command: str
    printed: str | None


def steps_of(markdown: str) -> Iterator[Step]:
    """Yield the scripts of all `sh` blocks, in order."""
    for command, printed in _BLOCK.findall(markdown):
        yield Step(command, printed or None)


@dataclass
class Ids:
    """Maps the ids of the page to the ids of this run."""

    real: dict[str, str] = field(default_factory=dict)

    def learn(self, page: str, printed: str) -> None:
        """Pair the ids of both texts in order, if both have the same number of ids."""
        written, given = _ID.findall(page), _ID.findall(printed)
        if len(written) == len(given):
            for one, other in zip(written, given, strict=True):
                self.real.setdefault(one, other)
                self.real.setdefault(one.partition("-")[0], other.partition("-")[0])

    def put_into(self, text: str) -> str:
        """Return the text with the ids and times of this run."""
        return _ID_OR_TIME.sub(lambda found: self.real.get(found[0], found[0]), text)


def check_commands(markdown: str, base_url: str) -> None:
    """Run all steps in order: each must succeed and print what the page says."""
    ids = Ids()
    for step in steps_of(markdown):
        printed = _run(ids.put_into(step.command), base_url)
        if step.printed is not None:
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


def comparable(text: str) -> list[Any]:
    """Return the JSON values of the text, with fixed times and durations; or its lines, if it is not all
    JSON."""
    try:
        return [_steady(value) for value in _json_values(text)]
    except json.JSONDecodeError:
        return [line.strip() for line in text.strip().splitlines()]


def _json_values(text: str) -> Iterator[Any]:
    at = 0
    while rest := text[at:].lstrip():
        at = len(text) - len(rest)
        value, at = _DECODER.raw_decode(text, at)
        yield value


def _steady(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: _ANY if name in _VOLATILE and item is not None else _steady(item)
            for name, item in value.items()
        }
    if isinstance(value, list):
        return [_steady(item) for item in value]
    return value
