"""Records the last use of each token in a file next to the tokens file.

It owns that file. The file is separate so that a server needs no permission to write the tokens file.
Requests never write it: a background task does, once a minute. A crash loses at most the uses of the last
minute.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import msgspec

from tailrace.app.background import in_background
from tailrace.app.clock import Clock, system_clock_ms
from tailrace.app.tokens.file import write_privately

WRITE_PERIOD_S: Final = 60

_logger: Final = logging.getLogger("tailrace.tokens")


def usage_path(tokens_file: Path) -> Path:
    """Return the path of the usage file for `tokens_file`."""
    return tokens_file.with_name(f"{tokens_file.name}.used")


def read_usage(tokens_file: Path) -> dict[str, int]:
    """Return the last use by token id, in Unix milliseconds; empty if the file is missing or invalid."""
    try:
        return msgspec.json.decode(usage_path(tokens_file).read_bytes(), type=dict[str, int])
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return {}


def write_usage(tokens_file: Path, last_used_at_ms: Mapping[str, int]) -> None:
    """Replace the usage file. Times are Unix milliseconds. Raises `OSError`."""
    write_privately(usage_path(tokens_file), msgspec.json.encode(last_used_at_ms))


@asynccontextmanager
async def recording_usage(
    tokens_file: Path,
    used: Callable[[], set[str]],
    *,
    period_s: float = WRITE_PERIOD_S,
    clock: Clock = system_clock_ms,
) -> AsyncIterator[None]:
    """Write the usage file every `period_s` seconds and at the end of the context.

    `used` returns the ids of the tokens that were used since its previous call. The recorded time is the time
    of writing, so it is up to `period_s` late. A failed write is logged.
    """

    def record() -> None:
        ids = used()
        if ids:
            now_ms = clock()
            _try_to_write(tokens_file, {**read_usage(tokens_file), **dict.fromkeys(ids, now_ms)})

    async def keep_recording() -> None:
        while True:
            await asyncio.sleep(period_s)
            await asyncio.to_thread(record)

    try:
        async with in_background(keep_recording()):
            yield
    finally:
        record()


def _try_to_write(tokens_file: Path, last_used_at_ms: Mapping[str, int]) -> None:
    try:
        write_usage(tokens_file, last_used_at_ms)
    except OSError as error:
        fields = {"reason": str(error), "file": str(usage_path(tokens_file))}
        _logger.warning("token_usage_not_written", extra={"fields": fields})
