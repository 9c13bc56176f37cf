"""The console: the pages at `/` and `/console/`, with which people look at streams and repair groups.

`src/` has the sources (TypeScript and Preact), `static/` the files that `make console` builds from them.
The package serves the built files. It never reads or changes a stream: the pages use the API like any other
client.
"""

from tailrace.app.console.pages import console_routes

__all__ = ["console_routes"]
