"""Reads Dockerfiles and simulates their builds, on a machine without a container engine.

Owns the reading of the file and of .dockerignore, and a simulated build: the same copies and the same
commands, in a directory that replaces the root. The base image is not simulated: commands run with this
machine's Python and programs, as this user.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[2]
"""The build context of every image."""
STEP_WITHIN_S: Final = 300

_CONTINUED: Final = re.compile(r"\\\n\s*(?:#.*\n\s*)*")
_OPTION: Final = re.compile(r"--[a-z]+(?:=\S+)?\s+")
_PLACES: Final = re.compile(r"(?<![\w.~-])/(?=(?:build|data|opt|tmp|work)\b)")
"""The absolute paths in instructions; each match is a leading slash."""


class Instruction(NamedTuple):
    word: str
    arguments: str

    @property
    def options(self) -> tuple[str, ...]:
        """The options before the arguments, such as `--from=build`."""
        return tuple(option.strip() for option in re.findall(r"--[a-z]+=\S+", self.arguments))

    @property
    def plain(self) -> str:
        """The arguments without options."""
        rest = self.arguments
        while option := _OPTION.match(rest):
            rest = rest[option.end() :]
        return rest


def instructions_of(file: Path) -> list[Instruction]:
    text = _CONTINUED.sub(" ", file.read_text())
    lines = [line.strip() for line in text.splitlines()]
    parts = [line.partition(" ") for line in lines if line and not line.startswith("#")]
    return [Instruction(word.upper(), rest.strip()) for word, _, rest in parts]


def words_of(instruction: Instruction) -> list[str]:
    """Return the words of an instruction in its JSON form, such as ENTRYPOINT ["tailrace"]."""
    start = instruction.plain.index("[")
    words: list[str] = json.loads(instruction.plain[start:])
    return words


def copied_from_the_context(instructions: list[Instruction]) -> Iterator[tuple[list[str], str]]:
    """Yield the sources and the destination of each COPY from the build context."""
    for instruction in instructions:
        if instruction.word == "COPY" and not any(o.startswith("--from") for o in instruction.options):
            *sources, destination = instruction.plain.split()
            yield sources, destination


def files_let_through(source: str) -> list[Path]:
    """Return the files below `source`, or `source` itself, that .dockerignore allows in the build context."""
    path = ROOT / source
    found = [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.is_file())
    patterns = [
        line for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] not in {"", "#"}
    ]
    return [each for each in found if not _is_ignored(each.relative_to(ROOT), patterns)]


def _is_ignored(path: Path, patterns: list[str]) -> bool:
    """Return whether the last pattern that matches the path, or a parent folder, ignores the path."""
    names = [path.as_posix(), *(parent.as_posix() for parent in path.parents)]
    ignored = False
    for pattern in patterns:
        expression = _expression_of(pattern.removeprefix("!"))
        if any(expression.fullmatch(name) for name in names):
            ignored = not pattern.startswith("!")
    return ignored


def _expression_of(pattern: str) -> re.Pattern[str]:
    escaped = re.escape(pattern)
    return re.compile(escaped.replace(r"\*\*/", "(?:.*/)?").replace(r"\*", "[^/]*"))


class Image(NamedTuple):
    """The result of a build: the files of the image and its settings."""

    root: Path
    environment: dict[str, str]
    instructions: list[Instruction]

    def last(self, word: str) -> Instruction:
        """Return the last instruction of its kind, which is the effective one."""
        return [each for each in self.instructions if each.word == word][-1]

    def here(self, text: str) -> str:
        """Return `text` with the image's paths replaced by their paths below `root`."""
        return _PLACES.sub(f"{self.root}/", text)

    def run(self, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command as in a container: with the image's paths and only the image's environment."""
        return subprocess.run(
            [self.here(word) for word in command],
            env={**self.environment, **environment},
            cwd=self.root / "data",
            capture_output=True,
            text=True,
            timeout=STEP_WITHIN_S,
            check=False,
        )


def build(file: Path, root: Path) -> Image:
    """Execute a Dockerfile below `root`. The stages share `root`, so each one finds the others' files."""
    image = Image(root, {"PATH": os.environ["PATH"]}, instructions_of(file))
    (root / "tmp").mkdir(parents=True)
    work = root
    for instruction in image.instructions:
        if instruction.word == "WORKDIR":
            work = Path(image.here(instruction.plain))
            work.mkdir(parents=True, exist_ok=True)
        elif instruction.word == "COPY":
            _copy(image, instruction, work)
        elif instruction.word == "RUN":
            _run(image, instruction, work)
        elif instruction.word == "ENV":
            image.environment.update(_variables(image, instruction))
    return image


def _copy(image: Image, instruction: Instruction, work: Path) -> None:
    for sources, destination in copied_from_the_context([instruction]):
        target = work / image.here(destination)
        for source in sources:
            for file in files_let_through(source):
                place = _place_of(file, ROOT / source, target, is_folder=destination.endswith("/"))
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, place)


def _place_of(file: Path, source: Path, target: Path, *, is_folder: bool) -> Path:
    """Return the target of a copy. The contents of a folder, or a file if `target` ends with a slash, go into
    `target`. Any other file is copied to `target` itself."""
    if source.is_dir():
        return target / file.relative_to(source)
    return target / file.name if is_folder else target


def _run(image: Image, instruction: Instruction, work: Path) -> None:
    """Run one step of the build with this Python, as this user."""
    command = image.here(instruction.plain).replace("python -m", f"{sys.executable} -m")
    command = command.replace("--owner=10001", f"--owner={os.getuid()}")
    command = command.replace("--group=10001", f"--group={os.getgid()}")
    done = subprocess.run(
        ["/bin/bash", "-euo", "pipefail", "-c", command],
        cwd=work,
        capture_output=True,
        text=True,
        timeout=STEP_WITHIN_S,
        check=False,
    )
    assert done.returncode == 0, f"{instruction.arguments}\n{done.stdout}{done.stderr}"


def _variables(image: Image, instruction: Instruction) -> dict[str, str]:
    pairs = (word.partition("=") for word in instruction.plain.split())
    return {name: image.here(value).replace("$PATH", image.environment["PATH"]) for name, _, value in pairs}
