"""Lists of consecutive ids are read as the ids one by one, or not at all."""

from __future__ import annotations

import json
import random

import pytest

from tailrace.api.wire.id_lists import consecutive_ids
from tailrace.core.errors import StreamError
from tailrace.core.limits import IDS_PER_REQUEST_MAX
from tailrace.core.stream_id import U64_MAX, parse_id
from tests.support.seeds import seeds


def texts(ms: object, first: int, count: int = 20) -> list[str]:
    return [f"{ms}-{number}" for number in range(first, first + count)]


def raw_of(ids: list[str]) -> bytes:
    return json.dumps(ids, separators=(",", ":")).encode()


@pytest.mark.parametrize(
    "ids",
    [
        texts(1692632086370, 0),
        texts(5, 95, 16),
        texts(0, 1),
        texts("007", 3),
        texts(U64_MAX, U64_MAX - 30),
        texts(5, U64_MAX - 19),
        texts(5, 9_990, IDS_PER_REQUEST_MAX),
    ],
)
def test_consecutive_ids_of_one_millisecond_are_a_range(ids: list[str]) -> None:
    found = consecutive_ids(raw_of(ids))
    assert found is not None
    assert list(found) == [parse_id(text.encode()) for text in ids]


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[",
        b"[]",
        b'[""]',
        b'["5-1"]',
        raw_of(texts(5, 1, 15)),
        raw_of(texts(5, 1, IDS_PER_REQUEST_MAX + 1)),
        raw_of(texts(5, -3)),
        raw_of(texts(-5, 3)),
        raw_of(texts("", 3)),
        raw_of(texts("x", 3)),
        raw_of(texts("5-", 3)),
        raw_of(texts(U64_MAX + 1, 3)),
        raw_of(texts(5, U64_MAX - 18)),
        raw_of(texts(5, 1)[::-1]),
        raw_of([*texts(5, 1), "5-1"]),
        raw_of([*texts(5, 1), "5-22"]),
        raw_of([*texts(5, 1), "6-21"]),
        raw_of([*texts(5, 1), "55-21"]),
        raw_of([*texts(5, 1), "5-021"]),
        raw_of([*texts(5, 1), "5"]),
        raw_of([*texts(5, 1), "5-"]),
        raw_of([*texts(5, 1), "5-21,22"]),
        raw_of([*texts(5, 1), "5-21.0"]),
        raw_of([*texts(5, 1), "5-2\u0661"]),
        raw_of([*texts(5, 1), '5-21","5-22']),
        raw_of(texts(5, 1)).replace(b",", b", "),
        b" " + raw_of(texts(5, 1)),
        raw_of(texts(5, 1)) + b" ",
        raw_of(texts(5, 1)).replace(b"5-7", b"5-\\u0037"),
    ],
)
def test_another_list_is_not_read(raw: bytes) -> None:
    assert consecutive_ids(raw) is None


@pytest.mark.parametrize("seed", seeds(5))
def test_a_list_with_one_changed_byte_is_read_as_one_by_one_or_not_at_all(seed: int) -> None:
    chance = random.Random(seed)
    raw = raw_of(texts(chance.choice((5, 55, 1692632086370)), chance.choice((0, 5, 90))))
    for _ in range(1_000):
        at = chance.randrange(len(raw))
        changed = raw[:at] + chance.choice(b'0159-",[]x \\').to_bytes() + raw[at + 1 :]
        found = consecutive_ids(changed)
        if found is not None:
            assert list(found) == _one_by_one(changed), (seed, changed)


def _one_by_one(raw: bytes) -> list[int] | None:
    try:
        return [parse_id(text.encode()) for text in json.loads(raw)]
    except (StreamError, ValueError):
        return None
