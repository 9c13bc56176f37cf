"""The layout of the code: the map of packages in CONTRIBUTING.md, and the length of each file."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from tests.support.pages import ROOT, text_of

FOLDERS: Final = ("core", "api", "app", "spark_client/tailrace_spark", "spark_client/pyspark_tailrace")
CODE: Final = (*FOLDERS, "openapi/python/tailrace_client", "bench", "docker")
LINES_MAX: Final = 500
ROW: Final = re.compile(r"^\| `([\w/]+)/` \| (.+) \|$", re.MULTILINE)


def packages() -> Iterator[tuple[str, str]]:
    """Each package's folder, and the first paragraph of its docstring on one line."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("__init__.py")):
            docstring = ast.get_docstring(ast.parse(path.read_text()))
            assert docstring, path
            yield str(path.parent.relative_to(ROOT)), " ".join(docstring.partition("\n\n")[0].split())


def test_the_map_names_each_package_in_the_words_of_its_docstring() -> None:
    section = text_of("CONTRIBUTING.md").partition("## Map")[2].partition("The other folders:")[0]
    assert dict(ROW.findall(section)) == dict(packages())


def sources() -> Iterator[str]:
    """Each file of Python that is written by hand."""
    for folder in CODE:
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT)
            if "generated" not in name.parts:
                yield str(name)


def test_a_file_that_is_written_by_hand_has_at_most_500_lines() -> None:
    long = {name for name in sources() if len((ROOT / name).read_text().splitlines()) > LINES_MAX}
    assert not long, "a file is one idea that a reader looks for: does each of these hold several?"
