"""The process: settings, composition of the parts, the server, logs, metrics, the command line.

The package connects `api` to `core.engine`, and both to the operating system. It never decides what a stream
command does, and it defines no API route. `__version__` is the only definition of the version.
"""

from __future__ import annotations

__version__ = "0.1.0"
