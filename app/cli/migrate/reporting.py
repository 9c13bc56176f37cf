"""Prints what a migration found before it writes, and what the comparison found. It decides nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final, NamedTuple, cast

from tailrace.app.cli.migrate.port import Place, Refusal, as_map, text
from tailrace.app.cli.migrate.progress import Meter
from tailrace.app.cli.migrate.running import Surveyed
from tailrace.app.cli.output import counted, note, say

STREAMS_SHOWN: Final = 20
DIFFERENCES_SHOWN: Final = 20

_SETTINGS: Final = (b"CONFIG", b"GET", b"stream-*")


def print_survey(streams: Sequence[Surveyed], *, all_of_them: bool) -> None:
    """Print the totals, and the streams: all, or the first."""
    totals = (
        counted(len(streams), "stream"),
        counted(sum(each.facts.length for each in streams), "entry"),
        counted(sum(len(each.facts.groups) for each in streams), "group"),
        counted(sum(map(_pending_count, streams)), "pending entry"),
    )
    say(", ".join(totals))
    if not streams:
        note("the source has no stream to copy; --keys selects streams by their keys")
    shown = streams if all_of_them else streams[:STREAMS_SHOWN]
    for each in shown:
        say(f"  {text(each.key)}: {counted(each.facts.length, 'entry')}, {each.state}")
    if len(shown) < len(streams):
        say(f"  and {len(streams) - len(shown):,} more; --dry-run shows all")


def _pending_count(stream: Surveyed) -> int:
    return sum(group.pending_count for group in stream.facts.groups.values())


def print_losses(streams: Sequence[Surveyed]) -> int:
    """Print what the target cannot hold; return how many losses there are."""
    losses = [(each.key, loss) for each in streams for loss in each.losses]
    if losses:
        say("the target cannot hold:")
    for key, loss in losses:
        say(f"  {text(key)}: {loss}")
    return len(losses)


def print_conflicts(streams: Sequence[Surveyed]) -> int:
    """Print the streams that may not be written; return how many there are."""
    found = [each for each in streams if each.conflict]
    for each in found:
        note(f"{text(each.key)}: {each.conflict}")
    return len(found)


def print_settings(source: Place, target: Place) -> None:
    """Print the settings of the whole servers that differ: a migration does not change them."""
    wanted, present = _settings(source), _settings(target)
    for name in sorted(wanted.keys() & present.keys()):
        if wanted[name] != present[name]:
            say(
                f"{text(name)} is {text(wanted[name])} in the source and {text(present[name])} in the "
                "target; it concerns all streams of a server and stays as it is"
            )


def _settings(place: Place) -> dict[bytes, bytes]:
    reply = place.run([_SETTINGS], b"")[0]
    return {} if isinstance(reply, Refusal) else cast("dict[bytes, bytes]", as_map(reply))


class Compared(NamedTuple):
    """The result of a comparison: the first differences, and how many there are."""

    first: Sequence[tuple[bytes, str]]
    total: int


def compared(differences: Iterable[tuple[bytes, str]]) -> Compared:
    """Compare to the end. O(entries)."""
    found = iter(differences)
    first = list(islice(found, DIFFERENCES_SHOWN))
    return Compared(first, len(first) + sum(1 for _ in found))


def print_comparison(result: Compared, meter: Meter) -> None:
    """Print the first differences and the totals."""
    for key, difference in result.first:
        note(f"{text(key)}: {difference}")
    count = result.total
    parts = (
        counted(meter.streams, "stream"),
        counted(meter.entries, "entry"),
        counted(meter.groups, "group"),
        counted(meter.pending, "pending entry"),
    )
    say(f"compared {', '.join(parts)}: {counted(count, 'difference') if count else 'equal'}")
