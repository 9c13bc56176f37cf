"""What all parts of an `AsyncStream` share: the key and the session. It sends nothing."""

from __future__ import annotations

from tailrace_client.session import AsyncSession


class AsyncStreamOf:
    """A stream by its key."""

    def __init__(self, session: AsyncSession, key: str) -> None:
        self._session = session
        self.key = key

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.key!r})"
