"""Runs commands that must fail with 404 if the stream does not exist, although Redis accepts them.

The check and the command run in one atomic step.
"""

from __future__ import annotations

from tailrace.api.ports import StreamStore
from tailrace.core.commands import Command, CountKeys
from tailrace.core.errors import StreamError, no_such_key
from tailrace.core.replies import Reply


async def execute_on_existing(store: StreamStore, key: bytes, command: Command) -> Reply:
    """Return the reply of `command`. Raises `StreamError` NO_SUCH_STREAM if the stream `key` does not exist.

    `command` must change nothing if the stream does not exist.
    """
    known, reply = await execute_together(store, CountKeys((key,)), command)
    if not known:
        raise no_such_key(key)
    return reply


async def execute_together(store: StreamStore, *commands: Command) -> list[Reply]:
    """Run `commands` in one atomic step and return their replies. Raises the first error among them."""
    replies: list[Reply] = []
    for reply in await store.execute_all(commands):
        if isinstance(reply, StreamError):
            raise reply
        replies.append(reply)
    return replies
