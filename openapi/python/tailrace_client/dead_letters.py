"""Dead letters: after which delivery an entry becomes one, and the calls that store it.

If a group has `max_deliveries`, the server moves its entries, and the consumer's own `max_deliveries` and
`dead_letter_stream` are not used for that stream. The settings can change while a consumer runs, so what the
consumer knows expires.

The entry is acknowledged only after its letter is stored: if the append is refused, or after a crash between
both, the entry is still pending. The append carries the id of the entry as its idempotency key, so it can be
repeated after a lost response or such a crash, and stores the letter only once.

A dead letter has the fields `origin_stream`, `origin_group`, `origin_id`, `deliveries` and `last_error`,
followed by the fields of the entry, byte for byte. A name can therefore occur twice. This module sends
nothing."""

from __future__ import annotations

import logging
import time
from base64 import b64encode
from hashlib import sha256
from http import HTTPStatus
from typing import Final, Literal, TypeAlias

from tailrace_client import group_calls, replies
from tailrace_client.call import Call, nothing
from tailrace_client.consumer_options import ConsumerOptions
from tailrace_client.consumer_state import Read, is_group_missing
from tailrace_client.errors import TailraceError
from tailrace_client.fields import ExactFields, Fields
from tailrace_client.generated import models
from tailrace_client.generated.api import command as command_api

# --- after which delivery -----------------------------------------------------------------------


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


# --- the letter ---------------------------------------------------------------------------------


Word: TypeAlias = "models.Base64Argument | bool | float | int | str"
"""The types that the generated operation accepts; this module uses text and base64."""


def target_of(options: ConsumerOptions, stream: str) -> str:
    """Return the key of the dead-letter stream for `stream`."""
    return options.dead_letter_stream or f"{stream}:dead"


def append(options: ConsumerOptions, read: Read, deliveries: int, error: str) -> Call[None]:
    """Return the call that appends the letter. `deliveries`: how often the entry was delivered."""
    letter = {
        "origin_stream": read.stream,
        "origin_group": options.group,
        "origin_id": read.id,
        "deliveries": str(deliveries),
        "last_error": error,
    }
    producer = sha256(f"{read.stream}\0{options.group}".encode()).hexdigest()
    words: list[Word] = ["XADD", target_of(options, read.stream), "IDMP", producer, read.id, "*"]
    words += [*_words_of(letter), *_words_of(read.entry.fields or {})]
    return Call(command_api.command._get_kwargs(body=words), nothing, is_idempotent=True)


def acknowledge(options: ConsumerOptions, read: Read) -> Call[int]:
    """Return the call that acknowledges the entry, once its letter is stored."""
    return group_calls.ack(read.stream, options.group, [read.id])


def _words_of(fields: Fields) -> list[Word]:
    if isinstance(fields, ExactFields):
        return [_word(item) for pair in fields.pairs for item in pair]
    return [item for pair in fields.items() for item in pair]


def _word(item: bytes) -> Word:
    try:
        return item.decode()
    except UnicodeDecodeError:
        return models.Base64Argument(b64encode(item).decode())
