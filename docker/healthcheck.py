"""Whether the server of this container takes requests: status 0 where `/readyz` says so, else 1 and a line.

It is what HEALTHCHECK runs, every few seconds, so it needs the standard library alone and starts fast. It
asks on loopback, under the port and the scheme that the environment gives the server; a server that was told
otherwise by arguments has to bring a health check of its own.
"""

from __future__ import annotations

import os
import ssl
import sys
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Final

ANSWERS_WITHIN_S: Final = 4
READY: Final = 200


def main() -> int:
    """The exit status."""
    try:
        status, said = _readiness()
    except (OSError, HTTPException) as error:
        print(f"no answer: {error!r}")
        return 1
    print(status, said)
    return 0 if status == READY else 1


def _readiness() -> tuple[int, str]:
    connection = _connection(int(os.environ.get("TAILRACE_PORT", "8080")))
    try:
        connection.request("GET", "/readyz")
        response = connection.getresponse()
        return response.status, response.read().decode(errors="replace")
    finally:
        connection.close()


def _connection(port: int) -> HTTPConnection:
    if not os.environ.get("TAILRACE_TLS_CERT"):
        return HTTPConnection("127.0.0.1", port, timeout=ANSWERS_WITHIN_S)
    # The certificate names the server as its clients know it, and not the loopback address: nothing secret is
    # asked or answered here.
    unverified = ssl._create_unverified_context()  # noqa: S323, SLF001 - as said
    return HTTPSConnection("127.0.0.1", port, timeout=ANSWERS_WITHIN_S, context=unverified)


if __name__ == "__main__":
    sys.exit(main())
