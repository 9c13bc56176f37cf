"""The routes of the console: one document for all of its views, and the files that the document loads.

The paths of the views are a fixed set, so that every other path keeps the 404 of the API. The policy of the
document allows no inline script or style, and no other server.
"""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Final, NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tailrace.api.http.pages import HEADERS

VIEWS: Final = (
    *("stream", "entry", "groups", "pending", "produce", "consume", "manage"),
    *("command", "server", "access"),
)
"""The views below `/console/`; the overview is at `/`. `src/router.ts` has the same names."""

POLICY: Final = (
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

_MEDIA_TYPES: Final = {
    "index.html": "text/html; charset=utf-8",
    "console.js": "text/javascript; charset=utf-8",
    "style.css": "text/css; charset=utf-8",
    "icon.svg": "image/svg+xml",
}


class _File(NamedTuple):
    content: bytes
    etag: str


@cache
def _read(name: str) -> _File:
    content = files("tailrace.app.console").joinpath("static", name).read_bytes()
    return _File(content, f'"{sha256(content).hexdigest()[:32]}"')


async def _document(request: Request) -> Response:
    """Return the document of all views; its script shows the view that the path names."""
    return _answer(request, "index.html")


async def _file(request: Request) -> Response:
    """Return a file that the document loads."""
    return _answer(request, request.url.path.rpartition("/")[2])


def _answer(request: Request, name: str) -> Response:
    """Return a file, or 304 if the browser has it already. Browsers ask each time, so a new version of the
    server shows at once."""
    file = _read(name)
    headers = {**HEADERS, "Content-Security-Policy": POLICY, "ETag": file.etag, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == file.etag:
        return Response(status_code=304, headers=headers)
    return Response(file.content, media_type=_MEDIA_TYPES[name], headers=headers)


def console_routes() -> list[Route]:
    """Return the routes of the console. All are open: the pages show nothing without the API."""
    paths = ["/", *(f"/console/{view}" for view in VIEWS)]
    assets = [name for name in _MEDIA_TYPES if name != "index.html"]
    return [
        *(Route(path, _document, methods=["GET"], include_in_schema=False) for path in paths),
        *(
            Route(f"/console/static/{name}", _file, methods=["GET"], include_in_schema=False)
            for name in assets
        ),
    ]
