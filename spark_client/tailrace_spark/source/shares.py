"""How streams share a limit, in proportion to what is waiting in each, and how they share parts. This module
only computes."""

from __future__ import annotations

from collections.abc import Mapping


def shares(limit: int, waiting: Mapping[str, int]) -> dict[str, int]:
    """Divide `limit` among streams with `waiting` entries each, at most `limit` in sum and none more than it
    has waiting.

    Each stream gets at least one, so that none waits forever; if `limit` is too small for that, the first
    streams of `waiting` get one each.
    """
    some = {name: count for name, count in waiting.items() if count}
    total = sum(some.values())
    if total <= limit:
        return some
    if limit <= len(some):
        return dict.fromkeys(list(some)[:limit], 1)
    spare, more = limit - len(some), total - len(some)
    exact = {name: spare * (count - 1) for name, count in some.items()}
    parts = {name: 1 + product // more for name, product in exact.items()}
    by_rest = sorted(exact, key=lambda name: exact[name] % more, reverse=True)
    for name in by_rest[: limit - sum(parts.values())]:
        parts[name] += 1
    return parts


def parts_for(least: int, entries_per_part: int, most: int, counts: Mapping[str, int]) -> dict[str, int]:
    """Return into how many parts the entries of each stream are split: at least `least` in sum, in proportion
    to the counts, and none of them above `entries_per_part` entries."""
    total = sum(counts.values())
    return {
        name: min(max(-(-least * count // total), -(-count // entries_per_part)), count, most)
        for name, count in counts.items()
        if count
    }


def packs_of(counts: Mapping[str, int], entries_max: int, streams_max: int) -> dict[str, int]:
    """Return the number of the pack of each stream: streams with one number share a part, which has at most
    `entries_max` entries of `streams_max` streams. A stream that shares with no other has no number."""
    packs: list[list[str]] = [[]]
    entries = 0
    for name in sorted(counts, key=lambda name: (counts[name], name)):
        if len(packs[-1]) == streams_max or entries + counts[name] > entries_max:
            packs.append([])
            entries = 0
        packs[-1].append(name)
        entries += counts[name]
    return {name: number for number, pack in enumerate(packs) if len(pack) > 1 for name in pack}
