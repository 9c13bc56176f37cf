"""The gateway's own names: in the stream's slot, different for different streams, and unusable for
clients."""

from __future__ import annotations

from binascii import crc_hqx
from itertools import product
from random import Random

from tailrace.app.remote.functions.names import (
    NACKED,
    REGISTRY,
    SLOTS,
    is_reserved,
    settings_key,
    state_key,
    stream_of,
)


def slot(key: bytes) -> int:
    """The rule of Redis Cluster, written down once more."""
    start = key.find(b"{")
    end = key.find(b"}", start + 1)
    tag = key[start + 1 : end] if start >= 0 and end > start + 1 else key
    return crc_hqx(tag, 0) % SLOTS


def keys() -> list[bytes]:
    random = Random(7)
    plain = [
        b"",
        b"s",
        b"race:france",
        b"{s}",
        b"{}s",
        b"a}b",
        b"}",
        b"{",
        b"}{",
        b"{}",
        b"{}}{s}",
        b"\0tailrace:b:{s}",
        *(bytes(each) for size in (1, 2, 3, 4) for each in product(b"{}a", repeat=size)),
    ]
    made = [bytes(random.choice(b"{}ab\0\xff") for _ in range(random.randrange(1, 9))) for _ in range(300)]
    return list(dict.fromkeys([*plain, *made]))


def test_a_streams_state_is_in_the_slot_of_the_stream() -> None:
    for key in keys():
        assert slot(state_key(key)) == slot(settings_key(key)) == slot(key), key


def test_different_streams_have_different_states() -> None:
    names = {name for key in set(keys()) for name in (state_key(key), settings_key(key))}
    assert len(names) == 2 * len(set(keys()))


def test_a_state_names_its_stream_and_no_other_key_names_one() -> None:
    for key in keys():
        assert stream_of(state_key(key)) == stream_of(settings_key(key)) == key
        assert stream_of(key) != key
    for other in (
        NACKED,
        REGISTRY,
        b"\0tailrace:a:s",
        b"\0tailrace:b:{{s}}",
        b"\0tailrace:b:{}",
        b"\0tailrace:c:{1}a}b",
        b"\0tailrace:",
    ):
        assert stream_of(other) is None, other


def test_all_names_of_the_gateway_are_reserved() -> None:
    assert is_reserved(NACKED)
    assert all(is_reserved(name) for key in keys() for name in (state_key(key), settings_key(key)))
    assert not is_reserved(b"tailrace:s")
