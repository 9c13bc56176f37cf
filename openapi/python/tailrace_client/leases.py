"""The leases of the items that a consumer holds: extended while the program works on them.

A lease is the time until other consumers may take an entry over. The server extends it only while the entry
is still pending for this consumer. This module settles nothing.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final

from tailrace_client.consumer_state import ConsumerState
from tailrace_client.errors import TailraceError
from tailrace_client.session import AsyncSession, Session

_log: Final = logging.getLogger("tailrace_client")


@contextmanager
def extending(session: Session, state: ConsumerState[Any]) -> Iterator[None]:
    """Extend leases in a thread while the context is open."""
    ended = threading.Event()
    if state.options.beat_s is not None:
        threading.Thread(target=_extend, args=(session, state, ended), daemon=True).start()
    try:
        yield
    finally:
        ended.set()


def _extend(session: Session, state: ConsumerState[Any], ended: threading.Event) -> None:
    while not ended.wait(state.options.beat_s):
        try:
            for call in state.extend_calls():
                session.attempt(call)
        except TailraceError as error:
            _log.warning("leases were not extended: %s", error)


@asynccontextmanager
async def extending_async(session: AsyncSession, state: ConsumerState[Any]) -> AsyncIterator[None]:
    """Extend leases in a task, like `extending`."""
    task = asyncio.create_task(_extend_async(session, state))
    try:
        yield
    finally:
        task.cancel()


async def _extend_async(session: AsyncSession, state: ConsumerState[Any]) -> None:
    while state.options.beat_s is not None:
        await asyncio.sleep(state.options.beat_s)
        try:
            for call in state.extend_calls():
                await session.attempt(call)
        except TailraceError as error:
            _log.warning("leases were not extended: %s", error)
