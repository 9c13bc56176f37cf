"""Serves HTML pages with the security headers that protect their readers.

The Content-Security-Policy of a page allows only its inline scripts and styles, by their hashes, and
requests to its own server. Other pages cannot show it in a frame. So a page needs no `unsafe-inline` and no
files from other servers.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Final

from starlette.responses import HTMLResponse, Response

HTML: Final = "text/html"

_INLINE: Final = {kind: re.compile(rf"<{kind}>(.*?)</{kind}>", re.DOTALL) for kind in ("script", "style")}

HEADERS: Final = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""Headers of every page. The third keeps browsers from guessing media types; the fourth forbids frames in old
browsers."""


def page(name: str) -> Response:
    """Return the page in the file `name` of the package `api`. The page needs no other files."""
    return html_page(_read(name))


def html_page(html: str) -> Response:
    """Return a response with the page `html`. Its policy is cached, so use only a fixed set of pages."""
    return HTMLResponse(html, headers={**HEADERS, "Content-Security-Policy": content_security_policy(html)})


@cache
def _read(name: str) -> str:
    return files("tailrace.api").joinpath(name).read_text("utf-8")


@cache
def content_security_policy(html: str) -> str:
    """Return the Content-Security-Policy of the page `html`."""
    scripts, styles = (" ".join(_hashes(html, kind)) or "'none'" for kind in ("script", "style"))
    return (
        f"default-src 'none'; script-src {scripts}; style-src {styles}; connect-src 'self'; "
        "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def _hashes(html: str, kind: str) -> Iterator[str]:
    for content in _INLINE[kind].findall(html):
        yield f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"
