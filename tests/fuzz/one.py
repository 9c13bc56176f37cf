"""One target under atheris, in this process: ``python -m tests.fuzz.one TARGET [libFuzzer's options]``.

It never returns. `core` and `api` are instrumented as they are imported, so nothing may import them before.
"""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["core", "api"]):
    from tests.fuzz.targets import TARGETS

if __name__ == "__main__":
    name, *options = sys.argv[1:]
    atheris.Setup([name, *options], TARGETS[name].run)
    atheris.Fuzz()
