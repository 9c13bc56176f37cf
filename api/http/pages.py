"""Pages for people, and the headers that keep them from being used against their readers.

It owns the Content-Security-Policy: a page runs the scripts and styles that stand in it, named by their
hashes, speaks to its own server, and stands in nobody's frame. So it needs no `unsafe-inline`, and nothing
from elsewhere.
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
"""On every page; the third also keeps old browsers from guessing, the fourth from framing."""


def page(name: str) -> Response:
    """The page in the file `name` of this package, which is whole in itself."""
    return html_page(_read(name))


def html_page(html: str) -> Response:
    """The answer that carries the page `html`, one of a fixed set of pages."""
    return HTMLResponse(html, headers={**HEADERS, "Content-Security-Policy": content_security_policy(html)})


@cache
def _read(name: str) -> str:
    return files("tailrace.api").joinpath(name).read_text("utf-8")


@cache
def content_security_policy(html: str) -> str:
    """What a page may do that is written like this."""
    scripts, styles = (" ".join(_hashes(html, kind)) or "'none'" for kind in ("script", "style"))
    return (
        f"default-src 'none'; script-src {scripts}; style-src {styles}; connect-src 'self'; "
        "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def _hashes(html: str, kind: str) -> Iterator[str]:
    for content in _INLINE[kind].findall(html):
        yield f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"
