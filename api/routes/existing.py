"""Commands that Redis lets pass on a missing stream, and that are a 404 here.

It owns the one way to ask for that: existence and command in one step, so that nothing comes between.
"""

from __future__ import annotations

from tailrace.api.ports import StreamStore
from tailrace.core.commands import Command, CountKeys
from tailrace.core.errors import StreamError, no_such_key
from tailrace.core.replies import Reply


async def execute_on_existing(store: StreamStore, key: bytes, command: Command) -> Reply:
    """The reply of `command`. Raises `StreamError` NO_SUCH_STREAM where `key` is no stream.

    On a missing stream `command` must be one that does nothing.
    """
    known, reply = await execute_together(store, CountKeys((key,)), command)
    if not known:
        raise no_such_key(key)
    return reply


async def execute_together(store: StreamStore, *commands: Command) -> list[Reply]:
    """The replies of `commands`, carried out at one instant. Raises the first error among them."""
    replies: list[Reply] = []
    for reply in await store.execute_all(commands):
        if isinstance(reply, StreamError):
            raise reply
        replies.append(reply)
    return replies
