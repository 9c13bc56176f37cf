"""The dead-letter settings of a group, as a consumer knows them. This module sends nothing.

If a group has `max_deliveries`, the server moves its entries, and the consumer's own `max_deliveries` and
`dead_letter_stream` are not used for that stream. The settings can change while a consumer runs, so what the
consumer knows expires.
"""

from __future__ import annotations

import logging
import time
from http import HTTPStatus
from typing import Final, Literal, TypeAlias

from tailrace_client import group_calls, replies
from tailrace_client.call import Call
from tailrace_client.consumer_options import ConsumerOptions
from tailrace_client.consumer_state import is_group_missing
from tailrace_client.errors import TailraceError

EXPIRES_AFTER_S: Final = 5.0

_log: Final = logging.getLogger("tailrace_client")

Verdict: TypeAlias = Literal["retry", "bury", "server_buries"]
"""What to do with an entry after its last delivery failed: nothing; store it as a dead letter; return it to
the group, so that the server stores it."""


class GroupPolicies:
    """The settings of the group on each stream."""

    def __init__(self, options: ConsumerOptions) -> None:
        self._options = options
        self._limits: dict[str, int | None] = {}
        self._expire_at = dict.fromkeys(options.streams, 0.0)

    def call(self, stream: str) -> Call[replies.Group] | None:
        """Return the call that reads the settings; None if they are known."""
        if time.monotonic() < self._expire_at[stream]:
            return None
        return group_calls.info(stream, self._options.group)

    def learn(self, stream: str, group: replies.Group) -> None:
        """Take the settings from a response."""
        limit = group.max_deliveries or None
        own = self._options.max_deliveries
        if limit is not None and own is not None and self._limits.get(stream) != limit:
            text = "group %s of %s has max_deliveries=%d, which is used instead of the consumer's %d"
            _log.info(text, self._options.group, stream, limit, own)
        self._set(stream, limit)

    def learn_error(self, stream: str, error: TailraceError) -> bool:
        """Use the consumer's own setting if its token may not read the group's, or if there is no group.
        Return whether that is so."""
        has_none = error.status == HTTPStatus.FORBIDDEN or is_group_missing(error)
        if has_none:
            self._set(stream, None)
        return has_none

    def verdict(self, stream: str, deliveries: int) -> Verdict:
        """Return what to do with an entry that was delivered this many times."""
        limit = self._limits.get(stream)
        if limit is not None:
            return "server_buries" if deliveries >= limit else "retry"
        own = self._options.max_deliveries
        return "bury" if own is not None and deliveries >= own else "retry"

    def _set(self, stream: str, limit: int | None) -> None:
        self._limits[stream] = limit
        self._expire_at[stream] = time.monotonic() + EXPIRES_AFTER_S
