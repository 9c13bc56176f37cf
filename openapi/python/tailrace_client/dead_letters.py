"""The call that stores an entry as a dead letter after too many deliveries. This module sends nothing.

The append to the dead-letter stream and the acknowledgment are one transaction: after a crash either both or
neither took effect. The append carries the id of the entry as its idempotency key, so it can be repeated
after a lost response and stores the letter only once.

A dead letter has the fields `origin_stream`, `origin_group`, `origin_id`, `deliveries` and `last_error`,
followed by the fields of the entry, byte for byte. A name can therefore occur twice.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from typing import TypeAlias

from tailrace_client.call import Answer, Call
from tailrace_client.consumer_state import Options, Read
from tailrace_client.errors import TailraceError
from tailrace_client.fields import ExactFields, Fields
from tailrace_client.generated import models
from tailrace_client.generated.api import command as command_api

Word: TypeAlias = "models.Base64Argument | bool | float | int | str"
"""The types that the generated operation accepts; this module uses text and base64."""


def target_of(options: Options, stream: str) -> str:
    """Return the key of the dead-letter stream for `stream`."""
    return options.dead_letter_stream or f"{stream}:dead"


def set_aside(options: Options, read: Read, deliveries: int, error: str) -> Call[None]:
    """Return the call that appends the letter and acknowledges the entry. `deliveries`: how often the entry
    was delivered."""
    letter = {
        "origin_stream": read.stream,
        "origin_group": options.group,
        "origin_id": read.id,
        "deliveries": str(deliveries),
        "last_error": error,
    }
    producer = sha256(f"{read.stream}\0{options.group}".encode()).hexdigest()
    append: list[Word] = ["XADD", target_of(options, read.stream), "IDMP", producer, read.id, "*"]
    append += [*_words_of(letter), *_words_of(read.entry.fields or {})]
    ack: list[Word] = ["XACK", read.stream, options.group, read.id]
    return Call(command_api.transaction._get_kwargs(body=[append, ack]), _check_both, is_idempotent=True)


def _words_of(fields: Fields) -> list[Word]:
    if isinstance(fields, ExactFields):
        return [_word(item) for pair in fields.pairs for item in pair]
    return [item for pair in fields.items() for item in pair]


def _word(item: bytes) -> Word:
    try:
        return item.decode()
    except UnicodeDecodeError:
        return models.Base64Argument(b64encode(item).decode())


def _check_both(answer: Answer) -> None:
    for outcome in answer.json():
        if "error" in outcome:
            raise TailraceError("COMMAND_FAILED", outcome["error"], status=answer.status_code)
