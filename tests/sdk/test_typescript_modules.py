"""The modules of the TypeScript SDK import each other without circles. Imports of types count as well.

import-linter checks the Python packages; it reads no TypeScript.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final

import pytest

from tests.support.typescript import PACKAGE

SOURCES: Final = PACKAGE / "src"
_IMPORT: Final = re.compile(r'^(?:import|export)\b[^"]*?\bfrom "(\.{1,2}/[^"]+)\.js";', re.MULTILINE)


def imports_of(module: Path) -> set[str]:
    """The paths of the modules that `module` imports or re-exports, below `src`."""
    return {
        str((module.parent / path).resolve().relative_to(SOURCES))
        for path in _IMPORT.findall(module.read_text())
    }


def imports() -> dict[str, set[str]]:
    """The imports of each module that is written by hand."""
    return {
        str(module.relative_to(SOURCES).with_suffix("")): imports_of(module)
        for module in sorted(SOURCES.rglob("*.ts"))
        if "generated" not in module.parts
    }


def circle_in(graph: Mapping[str, set[str]]) -> list[str]:
    """The modules of one circle, or nothing."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circle_in(imports()) == []


@pytest.mark.parametrize(
    ("module", "imported"), [("index", "client"), ("group", "settling"), ("websocket/session", "calls")]
)
def test_imports_of_values_and_of_types_are_found(module: str, imported: str) -> None:
    assert imported in imports()[module]


def test_a_circle_is_found() -> None:
    assert set(circle_in({"a": {"b"}, "b": {"c"}, "c": {"a"}})) == {"a", "b", "c"}
