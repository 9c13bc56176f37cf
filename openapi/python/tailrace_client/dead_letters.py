"""The calls that store an entry as a dead letter after too many deliveries. This module sends nothing.

The entry is acknowledged only after its letter is stored: if the append is refused, or after a crash between
both, the entry is still pending. The append carries the id of the entry as its idempotency key, so it can be
repeated after a lost response or such a crash, and stores the letter only once.

A dead letter has the fields `origin_stream`, `origin_group`, `origin_id`, `deliveries` and `last_error`,
followed by the fields of the entry, byte for byte. A name can therefore occur twice.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from typing import TypeAlias

from tailrace_client import group_calls
from tailrace_client.call import Call, nothing
from tailrace_client.consumer_options import ConsumerOptions
from tailrace_client.consumer_state import Read
from tailrace_client.fields import ExactFields, Fields
from tailrace_client.generated import models
from tailrace_client.generated.api import command as command_api

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
