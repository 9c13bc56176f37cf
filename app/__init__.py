"""The process: settings, composition of the parts, the server, logs, metrics, the command line.

What stands here joins `api` to `core.engine` and both to the operating system. It never decides what
a stream command does, and it knows no route. `__version__` is the one place that holds the version.
"""

from __future__ import annotations

__version__ = "0.1.0"
