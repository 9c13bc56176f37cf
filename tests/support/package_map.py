"""The map of the packages in `CONTRIBUTING.md`: each package, with the first paragraph of its docstring.

`python -m tests.support.package_map` writes the map. `tests/docs/test_layout.py` compares it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tests.support.pages import PAGES, ROOT

FOLDERS: Final = ("core", "api", "app", "spark_client/tailrace_spark", "spark_client/pyspark_tailrace")
PAGE: Final = PAGES["CONTRIBUTING.md"]
BEGIN: Final = "<!-- the packages: written by python -m tests.support.package_map -->\n"
END: Final = "<!-- end of the packages -->\n"


def packages() -> Iterator[tuple[str, str]]:
    """Each package's folder, and the first paragraph of its docstring on one line."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("__init__.py")):
            docstring = ast.get_docstring(ast.parse(path.read_text()))
            assert docstring, path
            yield str(path.parent.relative_to(ROOT)), " ".join(docstring.partition("\n\n")[0].split())


def with_map(page: str) -> str:
    """Return the page with the current map."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    rows = "".join(f"| `{package}/` | {owns} |\n" for package, owns in packages())
    return f"{before}{BEGIN}\n| package | what it owns |\n|---|---|\n{rows}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(with_map(PAGE.read_text()))
