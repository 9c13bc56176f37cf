"""Lists of keys: KEYS, SCAN, DBSIZE, and streams a page at a time.

A token with key patterns gets replies as if only the matching keys existed: other keys change no count, page
or cursor. If its patterns begin with literal bytes, only keys with that beginning are examined.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate, chain, islice

from tailrace.core.commands import KeyspaceSize, Listing, ListStreams, MatchKeys, ScanKeys
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.execution import Execution
from tailrace.core.glob import Glob, compile_glob
from tailrace.core.limits import SCAN_COUNT_MAX
from tailrace.core.replies import KeyScan, StreamList, StreamSummary
from tailrace.core.scan_order import Positions, cut, first_of, in_order, joined, scan_position
from tailrace.core.stream import Stream

_KEYS_AT_ONCE = 1_000
"""How many keys KEYS compares with its pattern at once."""

_SORTED_KEYS_MAX = 10_000
"""Up to so many keys that a limited token may see, SCAN sorts these keys at each step. Above, it walks over
the index of all keys."""


def keyspace_size(execution: Execution, command: KeyspaceSize) -> int:
    """How many streams there are. O(1); O(streams) for a token that may not see all."""
    if command.visible is None:
        return len(execution.keyspace.streams)
    return sum(1 for _ in _visible(execution, command))


def list_streams(execution: Execution, command: ListStreams) -> StreamList:
    """A page in byte order of the keys. O(log n + page), and the keys between that may not be seen."""
    after = command.start_after
    keys = (key for key in _visible(execution, command, command.prefix, after or b"") if key != after)
    page = list(islice(keys, command.limit))
    execution.room().charge_names(page)
    streams = execution.keyspace.streams
    return StreamList([_summary(key, streams[key]) for key in page], more=next(keys, None) is not None)


def _summary(key: bytes, stream: Stream) -> StreamSummary:
    return StreamSummary(key, stream.length, stream.last_id, stream.entries_added, len(stream.groups))


def match_keys(execution: Execution, command: MatchKeys) -> list[bytes]:
    """KEYS: all keys that match, in byte order. O(keys with the literal beginning of the pattern).

    Raises LIMIT_EXCEEDED where that takes more than `MATCHING_STEPS_MAX`.
    """
    glob = compile_glob(command.pattern)
    room = execution.room()
    keys = _visible(execution, command, glob.literal_prefix)
    found: list[bytes] = []
    while some := list(islice(keys, _KEYS_AT_ONCE)):
        if not room.take_steps(glob.steps_of_all(some)):
            raise StreamError(
                ErrorCode.LIMIT_EXCEEDED,
                "ERR KEYS would look at too many keys: use SCAN, or a pattern that begins with literal bytes",
            )
        found += glob.matching(some)
    room.charge_names(found)
    return found


def scan_keys(execution: Execution, command: ScanKeys) -> KeyScan:
    """A step of SCAN: `count` keys are examined of those that may be seen, `SCAN_COUNT_MAX` at most.

    The order is that of `scan_position`, a hash of the key alone: no other key changes it, so a key that
    stays is returned exactly once. The cursor is the position of the first key that was not examined. A step
    ends earlier where matching would take more than `MATCHING_STEPS_MAX`.
    """
    glob = compile_glob(b"*" if command.pattern is None else command.pattern)
    most = min(max(command.count, 1), SCAN_COUNT_MAX)
    runs, cursor = first_of(_runs(execution, command), most)
    keys = [*chain.from_iterable(runs)]
    room = execution.room()
    left = room.steps_left
    if not room.take_steps(glob.steps_of_all(keys)):
        runs, cursor = _affordable(glob, joined(runs), left, cursor)
        keys = [*chain.from_iterable(runs)]
    if prefix := glob.literal_prefix:
        keys = [key for key in keys if key.startswith(prefix)]
    found = list(glob.matching(keys))
    if len(found) > 1:
        found = in_order(joined(runs), found)
    room.charge_names(found)
    return KeyScan(cursor, found)


def _affordable(glob: Glob, positions: Positions, steps: int, cursor: int) -> tuple[list[Positions], int]:
    """The keys that matching in `steps` allows, one at least, and the position of the next one."""
    needed = list(accumulate(map(glob.steps, in_order(positions, positions))))
    some, following = cut(positions, bisect_right(needed, steps) + 1)
    return [some], cursor if following is None else following


def _runs(execution: Execution, command: ScanKeys) -> Iterable[Positions]:
    """The keys that may be seen, from the cursor on, in the runs of a `ScanOrder`."""
    start = command.cursor
    runs = execution.keyspace.scan_order.runs_from(start)
    if command.visible is None:
        return runs
    few = list(islice(_visible(execution, command), _SORTED_KEYS_MAX + 1))
    if len(few) <= _SORTED_KEYS_MAX:
        return [{key: position for key in few if (position := scan_position(key)) >= start}]
    is_visible = _matcher(command.visible)
    return ({key: run[key] for key in run if is_visible(key)} for run in runs)


# --- what may be seen --------------------------------------------------------------------------------


def _visible(
    execution: Execution, command: Listing, prefix: bytes = b"", start: bytes = b""
) -> Iterator[bytes]:
    """The keys with `prefix`, from `start` on, that may be seen, in byte order."""
    if command.visible is None:
        return _keys_in(execution, prefix, start)
    is_visible = _matcher(command.visible)
    areas = _areas(command.visible, prefix)
    return (key for area in areas for key in _keys_in(execution, area, start) if is_visible(key))


def _keys_in(execution: Execution, prefix: bytes, start: bytes) -> Iterator[bytes]:
    streams = execution.keyspace.streams
    keys: Iterator[bytes] = streams.irange(max(prefix, start), _after(prefix), inclusive=(True, False))
    return keys


def _after(prefix: bytes) -> bytes | None:
    """The least bytes above all that begin with `prefix`; None: there are none."""
    rest = prefix.rstrip(b"\xff")
    return rest[:-1] + bytes((rest[-1] + 1,)) if rest else None


def _areas(patterns: Iterable[bytes], prefix: bytes) -> list[bytes]:
    """The prefixes of keys that have `prefix` and may match a pattern: sorted, and none begins another."""
    areas: list[bytes] = []
    for literal in sorted(compile_glob(pattern).literal_prefix for pattern in patterns):
        area = max(literal, prefix, key=len)
        is_possible = area.startswith(literal) and area.startswith(prefix)
        if is_possible and not (areas and area.startswith(areas[-1])):
            areas.append(area)
    return areas


def _matcher(patterns: Iterable[bytes]) -> Callable[[bytes], bool]:
    globs = [compile_glob(pattern) for pattern in patterns]
    return lambda key: any(glob.matches(key) for glob in globs)
