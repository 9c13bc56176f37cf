"""The texts of errors in the source of `core`, each as a pattern with gaps for the values.

It reads the source, so it finds a new text regardless of the command that raises it. It runs nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from functools import cache
from pathlib import Path
from typing import Final

from tests.support.pages import ROOT

_TAKING_A_REFUSAL: Final = frozenset({"take_integer", "take_bounded"})
"""The methods of `Words` that take an error's text as an argument."""


@cache
def error_patterns() -> frozenset[str]:
    """Return a regular expression for each error text of `core` that has more than one word."""
    modules = [ast.parse(path.read_text()) for path in sorted((ROOT / "core").rglob("*.py"))]
    makers = _TAKING_A_REFUSAL.union({"StreamError"}, *map(_makers, modules))
    found = {pattern for module in modules for pattern in _patterns(module, makers)}
    found.update(_patterns(ast.parse((ROOT / "core/grammar/config.py").read_text()), {"ValueError"}))
    found.update(_patterns(_for_commands(ROOT / "core/log/entry.py"), {"BadEntry"}))
    return frozenset(found)


def _makers(module: ast.Module) -> Iterator[str]:
    """Yield the names of the functions that return a `StreamError`."""
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef) and node.returns and ast.unparse(node.returns) == "StreamError":
            yield node.name


_OF_REST: Final = frozenset({"_checked", "from_base64", "_refuse_repeated_names"})
"""Functions of `core.log.entry` that read JSON, which commands never contain."""


def _for_commands(path: Path) -> ast.Module:
    """Return `core.log.entry` without the bodies of the functions that read JSON."""
    module = ast.parse(path.read_text())
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef) and node.name in _OF_REST:
            node.body = []
    return module


def _patterns(module: ast.Module, makers: AbstractSet[str]) -> Iterator[str]:
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and _name(node.func) in makers:
            for argument in node.args:
                pattern = _pattern(argument)
                if " " in pattern:
                    yield pattern


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _pattern(text: ast.expr) -> str:
    if isinstance(text, ast.Constant) and isinstance(text.value, str):
        return re.escape(text.value)
    if isinstance(text, ast.JoinedStr):
        return "".join(_pattern(part) or ".*" for part in text.values)
    return ""
