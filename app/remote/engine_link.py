"""The link as the store uses it: commands by `link`, waiting readers by `tracking`.

It owns their composition, and nothing else.
"""

from __future__ import annotations

from tailrace.app.remote.link.caller import Caller
from tailrace.app.remote.link.timing import Timing
from tailrace.app.remote.link.url import parse_store_url


async def open_link(url: str, *, min_replicas: int = 0, timing: Timing | None = None) -> Caller:
    """Return a link to the engine at `url`. Raises `BadStoreUrl`, and `LinkDown` if the engine is not
    reached."""
    link = Caller(parse_store_url(url), timing or Timing(), min_replicas)
    await link.open()
    return link
