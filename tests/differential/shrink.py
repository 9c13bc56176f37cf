"""Shortens a failing program: drops steps as long as the program still fails.

Knows only that a program is a list of steps and that a predicate says whether it fails.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.differential.vocabulary import Program, Words


def shrink(program: Program, fails: Callable[[Program], bool]) -> Program:
    """A program of which no single step can be dropped. O(steps * log(steps)) runs as a rule."""
    size = max(len(program) // 2, 1)
    while True:
        smaller = _without_runs(program, size, fails)
        if size == 1 and len(smaller) == len(program):
            return program
        program = smaller
        size = max(size // 2, 1)


def _without_runs(program: Program, size: int, fails: Callable[[Program], bool]) -> Program:
    start = 0
    while start < len(program):
        candidate = program[:start] + program[start + size :]
        if fails(candidate):
            program = candidate
        else:
            start += size
    return program


def as_text(commands: list[Words]) -> str:
    """Return the commands as a user types them, one per line. Other characters than ASCII are quoted."""
    return "\n".join(" ".join(map(_quoted, words)) for words in commands)


def _quoted(word: bytes) -> str:
    plain = word.isascii() and word.decode("ascii", "replace").isprintable() and word and b" " not in word
    return word.decode() if plain else repr(word)[1:]
