"""The way back of dead letters to the stream that they came from."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET

from tailrace.core.commands import Redrive
from tailrace.core.effects import Redriven
from tailrace.core.errors import printable
from tailrace.core.execution import Execution
from tailrace.core.group_settings import NO_SETTINGS
from tailrace.core.handlers.append import consecutive_ids
from tailrace.core.handlers.group_settings import invalid_setting
from tailrace.core.handlers.groups import require_group
from tailrace.core.id_keys import rising
from tailrace.core.limits import DEAD_LETTER_BYTES_MAX, DEAD_LETTERS_MAX
from tailrace.core.log.dead_letter import entry_of
from tailrace.core.replies import RedriveReply
from tailrace.core.stream import Stream
from tailrace.core.stream_id import StreamId


def redrive(execution: Execution, command: Redrive) -> RedriveReply:
    """Append dead letters of the group to its stream again, with their own fields, and delete them. O(limit).

    One effect is the whole move, so a repeated call sends none twice. Raises NO_SUCH_STREAM, NOGROUP,
    INVALID_ARGUMENT if the group has no dead-letter stream, or another than the command names, and
    ID_EXHAUSTED.
    """
    source = _dead_letter_stream(execution, command)
    stream = execution.stream(source)
    if stream is None:
        return RedriveReply((), (), skipped=0 if command.ids is None else len(rising(command.ids)))
    examined, fragments, following = _examined(stream, command)
    ids: list[StreamId] = []
    entries: list[bytes] = []
    for value, fragment in zip(examined, fragments, strict=True):
        entry = None if fragment is None else entry_of(fragment, command.key, command.group)
        if entry is not None:
            ids.append(value)
            entries.append(entry)
    new_ids: Sequence[StreamId] = ()
    if ids:
        last_id = execution.keyspace.streams[command.key].last_id
        new_ids = consecutive_ids(last_id, execution.now_ms, len(ids))
        execution.do(Redriven(source, ids, command.key, new_ids, entries))
        execution.wake(command.key)
    return RedriveReply(ids, new_ids, len(examined) - len(ids), following)


def _dead_letter_stream(execution: Execution, command: Redrive) -> bytes:
    settings = require_group(execution, command.key, command.group).settings or NO_SETTINGS
    if command.dead_letter_stream not in {UNSET, settings.dead_letter_stream}:
        raise invalid_setting("the dead_letter_stream of the group has just changed; send the request again")
    if settings.dead_letter_stream is None:
        raise invalid_setting(
            f"the group '{printable(command.group)}' has no dead_letter_stream; configure the group first"
        )
    if settings.dead_letter_stream == command.key:
        raise invalid_setting("the dead_letter_stream is the group's own stream; configure another one")
    return settings.dead_letter_stream


def _examined(
    stream: Stream, command: Redrive
) -> tuple[Sequence[StreamId], Sequence[bytes | None], StreamId | None]:
    """Return ids and fragments of the dead letters to examine, and the id at which the next call begins."""
    limit = min(command.limit, DEAD_LETTERS_MAX)
    fragments: Sequence[bytes | None]
    if command.ids is None:
        ids, fragments = stream.log.range(command.start, count=limit, max_bytes=DEAD_LETTER_BYTES_MAX)
        rest, _ = stream.log.range(ids[-1] + 1, count=1) if ids else ((), ())
        return ids, fragments, rest[0] if rest else None
    wanted = rising(command.ids)
    fragments = stream.log.get_many(wanted[:limit], DEAD_LETTER_BYTES_MAX)
    done = len(fragments)
    return wanted[:done], fragments, wanted[done] if done < len(wanted) else None
