"""CONFIG GET and CONFIG SET of the four settings of streams.

Owns their names and ranges. CONFIG SET checks all names before any value, and sets all settings or none.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from msgspec import Struct

from tailrace.core.commands import GetConfig, SetConfig
from tailrace.core.errors import ErrorCode, StreamError, printable, syntax_error
from tailrace.core.grammar.refusals import invalid_argument
from tailrace.core.grammar.request import Parsed, Resp, as_ok
from tailrace.core.grammar.words import I64_MAX, Words, parse_integer
from tailrace.core.limits import IDMP_DURATION_S_MAX, IDMP_MAXSIZE_MAX, KIB, MIB

_GLOB: Final = re.compile(rb"[*?\[]")
_MEMORY: Final = re.compile(rb"([0-9]{0,127})([a-z]*)")
_MEMORY_UNITS: Final = {
    b"": 1,
    b"b": 1,
    b"k": 1000,
    b"kb": KIB,
    b"m": 1000**2,
    b"mb": MIB,
    b"g": 1000**3,
    b"gb": KIB * MIB,
}


class _Setting(Struct, frozen=True):
    """The range of a setting, both bounds included. `memory`: the value may have a unit, such as ``4kb``."""

    least: int
    greatest: int
    memory: bool = False

    def parse(self, raw: bytes) -> int:
        """Return the value as an integer. Raises `ValueError` with the text of Redis's error."""
        value = _parse_memory(raw) if self.memory else parse_integer(raw)
        if value is None and self.memory:
            raise ValueError("argument must be a memory value")
        if value is None:
            raise ValueError("argument couldn't be parsed into an integer")
        if not self.least <= value <= self.greatest:
            raise ValueError(f"argument must be between {self.least} and {self.greatest} inclusive")
        return value


def _parse_memory(raw: bytes) -> int | None:
    match = _MEMORY.fullmatch(raw.lower())
    unit = _MEMORY_UNITS.get(match[2]) if match else None
    return None if match is None or unit is None else int(match[1] or 0) * unit


_SETTINGS: Final = {
    "stream-node-max-entries": _Setting(0, I64_MAX),
    "stream-node-max-bytes": _Setting(0, I64_MAX, memory=True),
    "stream-idmp-duration": _Setting(1, IDMP_DURATION_S_MAX),
    "stream-idmp-maxsize": _Setting(1, IDMP_MAXSIZE_MAX),
}


def parse_get(words: Words) -> Parsed:
    """``CONFIG GET pattern [pattern ...]``; patterns match in any case."""
    patterns = [words.take_pattern() for _ in range(words.left)]
    command = GetConfig(tuple(pattern.lower() for pattern in patterns))
    # The reply shows a setting under the name that the client typed, if the client typed its full name.
    typed = {pattern.lower().decode("latin-1"): pattern for pattern in patterns if not _GLOB.search(pattern)}
    return command, partial(_settings, typed)


def _settings(typed: dict[str, bytes], values: dict[str, int]) -> Resp:
    pairs = ((typed.get(name, name.encode()), b"%d" % value) for name, value in values.items())
    return [item for pair in pairs for item in pair]


def parse_set(words: Words) -> Parsed:
    """``CONFIG SET name value [name value ...]``."""
    if words.left % 2:
        raise syntax_error()
    given: dict[str, bytes] = {}
    while words.left:
        name = _take_setting_name(words)
        if name in given:
            raise _failed(name, "duplicate parameter")
        given[name] = words.take()
    values = tuple((name, _parse_value(name, raw)) for name, raw in given.items())
    return SetConfig(values), as_ok


def _take_setting_name(words: Words) -> str:
    word = words.take()
    name = word.lower().decode("latin-1")
    if name not in _SETTINGS:
        raise StreamError(
            ErrorCode.INVALID_ARGUMENT,
            f"ERR Unknown option or number of arguments for CONFIG SET - '{printable(word)}'",
        )
    return name


def _parse_value(name: str, raw: bytes) -> int:
    try:
        return _SETTINGS[name].parse(raw)
    except ValueError as error:
        raise _failed(name, str(error)) from None


def _failed(name: str, reason: str) -> StreamError:
    return invalid_argument(f"CONFIG SET failed (possibly related to argument '{name}') - {reason}")
