"""The diagrams of the pages: Mermaid blocks keep to a small, checked grammar, and drawings are valid SVG.

It owns that grammar: the forms of lines that the pages use and that Mermaid renders. It renders nothing. To
use another form, check that GitHub renders it, and add its line here.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

import pytest

from tests.support.pages import PAGES, ROOT, fenced, languages_of

_LABEL: Final = r'"[^"]+"'
_NODE: Final = rf"\w+(?:\({_LABEL}\)|\(\[{_LABEL}\]\)|\[{_LABEL}\]|\[\({_LABEL}\)\]|\{{{_LABEL}\}})?"
_TEXT: Final = r"[^;#]+"
LINES: Final = {
    r"flowchart (?:TB|LR)": (
        rf"{_NODE}",
        rf"{_NODE} (?:-->|-- (?:{_LABEL}|\w+) -->) {_NODE}",
        rf"subgraph \w+\[{_LABEL}\]",
        r"end",
    ),
    r"stateDiagram-v2": (
        r"direction LR",
        rf"\w+: {_TEXT}",
        rf"(?:\w+|\[\*\]) --> (?:\w+|\[\*\]): {_TEXT}",
    ),
    r"sequenceDiagram": (
        rf"participant \w+ as {_TEXT}",
        rf"\w+--?>>\w+: {_TEXT}",
        rf"Note over \w+: {_TEXT}",
    ),
}
"""The first line of a diagram, and the forms of its other lines."""

WITH_DIAGRAMS: Final = [page for page in PAGES if "mermaid" in languages_of(page)]
DRAWINGS: Final = sorted((ROOT / "docs/drawings").glob("*.svg"))
SVG: Final = "{http://www.w3.org/2000/svg}"


def invalid_lines(diagram: str) -> list[str]:
    """Return the lines that have no known form of this kind of diagram."""
    first, *rest = diagram.splitlines()
    forms = next((forms for kind, forms in LINES.items() if re.fullmatch(kind, first)), None)
    if forms is None:
        return [first]
    return [line for line in rest if not any(re.fullmatch(form, line.strip()) for form in forms)]


@pytest.mark.parametrize("page", WITH_DIAGRAMS)
def test_every_line_of_a_diagram_has_a_known_form(page: str) -> None:
    assert [line for diagram in fenced(page, "mermaid") for line in invalid_lines(diagram)] == []


@pytest.mark.parametrize("page", WITH_DIAGRAMS)
def test_every_subgraph_ends(page: str) -> None:
    for diagram in fenced(page, "mermaid"):
        lines = [line.strip() for line in diagram.splitlines()]
        assert sum(line.startswith("subgraph ") for line in lines) == lines.count("end")


@pytest.mark.parametrize(
    "line", ['a["label', "a -> b", 'a -- "text" -> b', "A ->> B", "A->>B", "A --> B; C --> D: text"]
)
def test_a_line_with_a_mistake_is_found(line: str) -> None:
    for first in ("flowchart LR", "stateDiagram-v2", "sequenceDiagram"):
        assert invalid_lines(f"{first}\n    {line}\n") == [f"    {line}"]


@pytest.mark.parametrize("drawing", DRAWINGS, ids=lambda path: path.name)
def test_a_drawing_is_valid_svg_with_a_title_and_a_description(drawing: Path) -> None:
    root = ET.parse(drawing).getroot()  # noqa: S314, a file of the repository
    assert root.tag == f"{SVG}svg"
    assert root.findtext(f"{SVG}title")
    assert root.findtext(f"{SVG}desc")
