"""Runs the commands of documented routes, and writes the answers of operations in the table.

Some commands must fail with 404 if the stream does not exist, although Redis accepts them: for these, the
check and the command run in one atomic step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from starlette.responses import Response

from tailrace.api.operations.table import Operation
from tailrace.api.ports import StreamStore
from tailrace.api.wire.negotiation import JSON
from tailrace.core.commands import Command, CountKeys
from tailrace.core.errors import StreamError, no_such_key
from tailrace.core.log.entry_json import Shape
from tailrace.core.replies import Reply


async def served(
    operation: Operation,
    store: StreamStore,
    command: Command,
    names: Sequence[bytes] = (),
    shape: Shape = Shape.NATURAL,
) -> Response:
    """Run the command of an operation in the table, and return its answer. `names`: those in the path, if the
    answer depends on them."""
    return answered(operation, await store.execute(command), command, names, shape)


def answered(
    operation: Operation,
    reply: Reply,
    command: Command,
    names: Sequence[bytes] = (),
    shape: Shape = Shape.NATURAL,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return the answer of an operation in the table. `headers`: further headers."""
    content = operation.answer_of(reply, command, names, shape)
    status, own_headers = operation.head_of(reply)
    return Response(content, status, {**own_headers, **(headers or {})}, JSON)


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
