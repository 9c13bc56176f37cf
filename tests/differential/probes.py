"""The commands that can be compared, and the extra commands that Redis 7.0 needs after some of them."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from tailrace.core.grammar.words import I64_MAX
from tests.differential.vocabulary import Step, Words

IDS_OF_A_GIGABYTE: Final = 1 << 26
SHORTEST_IDLE_MS: Final = 50_000


def is_comparable(words: Words) -> bool:
    """Whether both sides can answer: the command waits a moment at most, and 7.0 knows it."""
    # ``+`` as a position came with 7.4.
    return is_short(words) and not (_reads(words) and b"+" in words)


def is_short(words: Words) -> bool:
    """Whether the command waits a moment at most, and its answer is not each server's own."""
    upper = [word.upper() for word in words]
    if _reads(words):
        return all(
            after in {b"1", b"x", b"-1", b"1.5"}
            for word, after in zip(upper, words[1:], strict=False)
            if word == b"BLOCK"
        )
    # Help texts and the other settings are each server's own, and what remains of CONFIG GET may be a
    # command of strings.
    lists_settings = upper[0] == b"CONFIG" and b"*" in words
    foreign = b"HELP" in upper or upper[0] in {b"GET", b"SET"} or lists_settings
    return not foreign and not _needs_memory(upper) and not _is_fleeting(upper)


def _is_fleeting(upper: Words) -> bool:
    """Whether an idle time of a few milliseconds decides, which pass while the program runs."""
    times = [after for word, after in pairwise(upper) if word in {b"IDLE", b"CLAIM"}]
    if upper[0] in {b"XCLAIM", b"XAUTOCLAIM"}:
        times += upper[4:5]
    return any(time.isdigit() and 0 < int(time) < SHORTEST_IDLE_MS for time in times)


def _needs_memory(upper: Words) -> bool:
    """Whether Redis's answer depends on the machine's memory: XAUTOCLAIM allocates 16 bytes a COUNT."""
    counts = [after for word, after in pairwise(upper) if word == b"COUNT"]
    return upper[0] == b"XAUTOCLAIM" and any(
        count.isdigit() and IDS_OF_A_GIGABYTE < int(count) <= I64_MAX // 16 for count in counts
    )


def _reads(words: Words) -> bool:
    return words[0].upper() in {b"XREAD", b"XREADGROUP"}


def consumer_probes(words: Words) -> Step:
    """Whether `words` left its consumer behind: one XGROUP CREATECONSUMER for each key it names.

    They are part of the program, so that 7.0.15, which creates no consumer where nothing was yielded,
    has it from here on as well (see `redis_7_0.created_by_an_empty_read`).
    """
    name = words[0].upper()
    if name in {b"XCLAIM", b"XAUTOCLAIM"} and len(words) > 3:
        return (_probe(words[1], words[2], words[3]),)
    if name != b"XREADGROUP":
        return ()
    upper = [word.upper() for word in words]
    if b"GROUP" not in upper[:-3]:
        return ()
    place = upper.index(b"GROUP")
    if b"STREAMS" not in upper[place + 3 :]:
        return ()
    group, consumer = words[place + 1 : place + 3]
    streams = words[upper.index(b"STREAMS", place + 3) + 1 :]
    keys = dict.fromkeys(streams[: len(streams) // 2])
    return tuple(_probe(key, group, consumer) for key in keys)


def _probe(key: bytes, group: bytes, consumer: bytes) -> Words:
    return [b"XGROUP", b"CREATECONSUMER", key, group, consumer]
