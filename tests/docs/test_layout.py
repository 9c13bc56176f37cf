"""The map of packages in CONTRIBUTING.md says what each package's own docstring says."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from tests.support.pages import ROOT, text_of

FOLDERS: Final = ("core", "api", "app", "spark_client/tailrace_spark")
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
