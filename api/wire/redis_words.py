"""Redis commands and replies as JSON, for the command endpoint.

It owns the JSON form of both. `core.grammar` parses the words of a command.
"""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from tailrace.api.ports import StoreUnavailable
from tailrace.api.problems.table import RequestRefused
from tailrace.api.schemas.command import CommandBody, CommandsBody
from tailrace.api.wire.appends import UNREADABLE
from tailrace.api.wire.bodies import (
    explained,
    mismatch,
    require_few_elements,
    require_few_elements_in_slices,
)
from tailrace.api.wire.members import require_unique
from tailrace.api.wire.turns import PART_BYTES, Slices, off_the_loop
from tailrace.core.commands import Command, Read, ReadGroup
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.grammar import Resp, Rows, SimpleString
from tailrace.core.limits import BODY_ELEMENTS_MAX, BULK_ELEMENTS_MAX, COMMAND_ARGUMENTS_MAX
from tailrace.core.log.entry import BadEntry, from_base64

# `float_hook` receives the text of a number as it was sent, so no digit is lost or added.
_decode_command: Final = msgspec.json.Decoder(list[Any], float_hook=str)
_decode_commands: Final = msgspec.json.Decoder(list[msgspec.Raw])

_encode: Final = msgspec.json.Encoder().encode


class _NotAWord(Exception):
    """An argument of a type that commands do not accept."""


def decode_command(raw: bytes) -> list[bytes]:
    """Return the words of one command. Raises `RequestRefused`: 400, 413 or 422. O(bytes)."""
    require_few_elements(raw, BODY_ELEMENTS_MAX)
    try:
        return _words_of(raw)
    except (*UNREADABLE, _NotAWord, BadEntry) as error:
        raise explained(raw, CommandBody, error) from None


async def decode_commands(raw: bytes, commands_max: int, slices: Slices) -> list[list[bytes]]:
    """Return the words of each command. Raises `RequestRefused`: 400, 413 or 422. O(bytes).

    The event loop serves other requests between slices of the work.
    """
    await require_few_elements_in_slices(raw, BULK_ELEMENTS_MAX, slices)
    try:
        await asyncio.sleep(0)
        commands = _decode_commands.decode(raw)
        _check_count(len(commands), commands_max, "commands")
        all_words = []
        for each in commands:
            size_bytes = memoryview(each).nbytes
            words = await off_the_loop(size_bytes, partial(_words_of, each))
            all_words.append(words)
            await slices.count(size_bytes + len(words) * PART_BYTES)
    except (*UNREADABLE, _NotAWord, BadEntry) as error:
        raise explained(raw, CommandsBody, error) from None
    return all_words


def _words_of(raw: bytes | msgspec.Raw) -> list[bytes]:
    items = _decode_command.decode(raw)
    words = _words(items)
    if dict in map(type, items):
        require_unique(bytes(raw))
    return words


def _words(words: list[Any]) -> list[bytes]:
    _check_count(len(words), COMMAND_ARGUMENTS_MAX, "arguments")
    if not words:
        raise mismatch([("", "the command is empty; send its name and its arguments")])
    return [_word(word) for word in words]


def _check_count(count: int, most: int, what: str) -> None:
    if count > most:
        raise RequestRefused(
            ErrorCode.LIMIT_EXCEEDED, f"the request has {count} {what}; at most {most} are allowed"
        )


def _word(word: Any) -> bytes:
    """Return an argument as bytes: the text of a string, number or boolean, or the bytes that base64
    encodes."""
    if isinstance(word, str):
        return word.encode()
    if isinstance(word, int):
        return msgspec.json.encode(word)
    if isinstance(word, dict) and word.keys() == {"base64"} and isinstance(word["base64"], str):
        return from_base64(word["base64"])
    raise _NotAWord("an argument must be a string, a number, a boolean, or an object with `base64`")


def waiting_at_most(command: Command, wait_ms_max: int) -> Command:
    """Return `command` with BLOCK limited to `wait_ms_max`. BLOCK 0, forever in Redis, becomes the limit."""
    if isinstance(command, Read | ReadGroup) and command.block_ms is not None:
        return replace(command, block_ms=min(command.block_ms or wait_ms_max, wait_ms_max))
    return command


def outcome_parts(answer: Resp | StreamError | StoreUnavailable, *, all_base64: bool) -> Iterator[bytes]:
    """Yield the JSON text of one item of a pipeline's response, in parts."""
    if isinstance(answer, StreamError):
        yield _encode({"error": answer.line})
    elif isinstance(answer, StoreUnavailable):
        yield _encode({"error": f"ERR {answer.reason}"})
    else:
        yield b'{"result":'
        yield from result_parts(answer, all_base64=all_base64)
        yield b"}"


def result_parts(reply: Resp, *, all_base64: bool) -> Iterator[bytes]:
    """Yield the JSON text of a RESP2 reply, in parts, so that a long reply is never in memory as objects.

    With `all_base64`, every string except the status OK is base64.
    """
    if isinstance(reply, Rows):
        yield b"["
        for number, piece in enumerate(reply.pieces()):
            if number:
                yield b","
            if _has_rows(piece[0]):
                yield from _joined(result_parts(row, all_base64=all_base64) for row in piece)
            else:
                yield _encode(_result(piece, all_base64=all_base64))[1:-1]
        yield b"]"
    elif isinstance(reply, list) and any(isinstance(item, list | Rows) for item in reply):
        yield b"["
        yield from _joined(result_parts(item, all_base64=all_base64) for item in reply)
        yield b"]"
    else:
        yield _encode(_result(reply, all_base64=all_base64))


def _has_rows(row: Resp) -> bool:
    """Whether a row has a long list of its own, as a group of XINFO STREAM FULL has."""
    return isinstance(row, list) and any(isinstance(item, Rows) for item in row)


def _joined(texts: Iterable[Iterable[bytes]]) -> Iterator[bytes]:
    """Yield the parts of all texts, with commas between the texts."""
    for number, parts in enumerate(texts):
        if number:
            yield b","
        yield from parts


def _result(reply: Resp, *, all_base64: bool) -> Any:
    if isinstance(reply, list):
        # Nearly all items are text. A function call for each would double the time.
        if not all_base64:
            try:
                return [
                    item.decode() if type(item) is bytes else _result(item, all_base64=False)
                    for item in reply
                ]
            except UnicodeDecodeError:
                pass
        return [_result(item, all_base64=all_base64) for item in reply]
    if isinstance(reply, SimpleString):
        plain = not all_base64 or reply == "OK"
        return str(reply) if plain else b64encode(reply.encode()).decode()
    if isinstance(reply, bytes):
        return b64encode(reply).decode() if all_base64 else _text(reply)
    return reply


def _text(value: bytes) -> str | dict[str, str]:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"base64": b64encode(value).decode()}
