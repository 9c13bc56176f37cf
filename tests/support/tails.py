"""The addresses of tails at a running server, and appends to the streams that they follow.

Owns these requests. It opens no tail: `tests.support.sse_client` does.
"""

from __future__ import annotations

from urllib.parse import quote

from tests.support.waiting_readers import Server


def tail_url(api: Server, key: str, query: str = "") -> str:
    return f"{api.base_url}/v1/streams/{quote(key, safe='')}/entries:tail?{query}"


def tails_url(api: Server, *keys: str, query: str = "") -> str:
    streams = "&".join(f"stream={quote(key, safe='')}" for key in keys)
    return f"{api.base_url}/v1/tail?{streams}&{query}"


def add(api: Server, key: str, *ids: str) -> None:
    api.transaction(*[f"XADD {key} {each} a {each}" for each in ids])
