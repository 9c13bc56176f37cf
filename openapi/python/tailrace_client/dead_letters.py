"""Setting an entry aside that was delivered too often: what says so, as a call. It sends nothing.

The append to the dead-letter stream and the acknowledgment are one transaction: a crash does both or neither.
The append carries an idempotency key, the entry's id, so that after a lost answer it can be asked for again
and the letter is there once.

A dead letter has the fields `origin_stream`, `origin_group`, `origin_id`, `deliveries` and `last_error`, and
behind them those of the entry, byte for byte; a name may then stand twice.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from typing import TypeAlias

from tailrace_client.call import Answer, Call
from tailrace_client.consumer_state import Options, Read
from tailrace_client.errors import TailraceError
from tailrace_client.fields import ExactFields, Fields
from tailrace_client.generated.api.command import transaction
from tailrace_client.generated.models import Base64Argument

Word: TypeAlias = Base64Argument | bool | float | int | str
"""What the generated operation takes; text and bytes are what is sent."""


def target_of(options: Options, stream: str) -> str:
    """The key of the stream for dead letters of `stream`."""
    return options.dead_letter_stream or f"{stream}:dead"


def set_aside(options: Options, read: Read, deliveries: int, error: str) -> Call[None]:
    """What appends the letter and acknowledges the entry; `deliveries` is how often it was tried."""
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
    return Call(transaction._get_kwargs(body=[append, ack]), _check_both, is_idempotent=True)


def _words_of(fields: Fields) -> list[Word]:
    if isinstance(fields, ExactFields):
        return [_word(item) for pair in fields.pairs for item in pair]
    return [item for pair in fields.items() for item in pair]


def _word(item: bytes) -> Word:
    try:
        return item.decode()
    except UnicodeDecodeError:
        return Base64Argument(b64encode(item).decode())


def _check_both(answer: Answer) -> None:
    for outcome in answer.json():
        if "error" in outcome:
            raise TailraceError("COMMAND_FAILED", outcome["error"], status=answer.status_code)
