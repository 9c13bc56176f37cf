"""When each token was last used: a file beside the tokens file, written now and then, that nothing depends
on.

It owns that file. It is apart from the tokens, so that a server needs no right to change those, and a request
never writes: a loss of the last minute's uses harms nobody.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import msgspec

from tailrace.app.clock import Clock, system_clock_ms
from tailrace.app.tokens.file import write_privately

WRITE_PERIOD_S: Final = 60

_logger: Final = logging.getLogger("tailrace.tokens")


def usage_path(tokens_file: Path) -> Path:
    """Where the uses of the tokens in `tokens_file` stand."""
    return tokens_file.with_name(f"{tokens_file.name}.used")


def read_usage(tokens_file: Path) -> dict[str, int]:
    """Unix milliseconds of the last use by token id; nothing where there is no file that can be read."""
    try:
        return msgspec.json.decode(usage_path(tokens_file).read_bytes(), type=dict[str, int])
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return {}


def write_usage(tokens_file: Path, last_used_at_ms: Mapping[str, int]) -> None:
    """Raises `OSError` where it cannot be written."""
    write_privately(usage_path(tokens_file), msgspec.json.encode(last_used_at_ms))


@asynccontextmanager
async def recording_usage(
    tokens_file: Path,
    used: Callable[[], set[str]],
    *,
    period_s: float = WRITE_PERIOD_S,
    clock: Clock = system_clock_ms,
) -> AsyncIterator[None]:
    """Write down every `period_s` seconds, and at the end, which tokens `used` names. The time of a use is
    that of the writing: a minute more or less."""

    def record() -> None:
        ids = used()
        if ids:
            now_ms = clock()
            _try_to_write(tokens_file, {**read_usage(tokens_file), **dict.fromkeys(ids, now_ms)})

    async def keep_recording() -> None:
        while True:
            await asyncio.sleep(period_s)
            await asyncio.to_thread(record)

    recording = asyncio.create_task(keep_recording())
    try:
        yield
    finally:
        recording.cancel()
        record()


def _try_to_write(tokens_file: Path, last_used_at_ms: Mapping[str, int]) -> None:
    try:
        write_usage(tokens_file, last_used_at_ms)
    except OSError as error:
        fields = {"reason": str(error), "file": str(usage_path(tokens_file))}
        _logger.warning("token_usage_not_written", extra={"fields": fields})
