"""Health check of the container. Prints a line, and exits with 0 if `/readyz` returns 200, otherwise with 1.

HEALTHCHECK runs it every few seconds, so it uses only the standard library and starts fast. It sends the
request to loopback, with the port and the scheme from the environment variables of the server. If you
configure the server with arguments instead, replace the health check.
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
    """Return the exit status."""
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
    # The certificate has the name that clients use, not the loopback address. The request and the response
    # contain nothing secret.
    unverified = ssl._create_unverified_context()  # noqa: S323, SLF001 - see above
    return HTTPSConnection("127.0.0.1", port, timeout=ANSWERS_WITHIN_S, context=unverified)


if __name__ == "__main__":
    sys.exit(main())
