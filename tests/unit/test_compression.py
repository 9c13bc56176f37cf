"""Unpacking compressed bodies: every member counts, damage is reported, and work is linear in the input."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Callable

import pytest
import zstandard

from tailrace.api.problems.table import RequestRefused
from tailrace.api.wire.compression import Unpacking, encoding_of
from tailrace.core.limits import BODY_BYTES_MAX, BODY_MEMBERS_MAX

COMPRESS: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "zstd": zstandard.compress}
SKIPPABLE = b"\x50\x2a\x4d\x18"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


def unpacked(body: bytes, encoding: str) -> bytes:
    unpacking = Unpacking(body, encoding)
    unpacking.run()
    assert unpacking.is_done
    return bytes(unpacking.unpacked)


def refusal(body: bytes, encoding: str) -> RequestRefused:
    with pytest.raises(RequestRefused) as refused:
        Unpacking(body, encoding).run()
    return refused.value


@pytest.mark.parametrize("encoding", COMPRESS)
@pytest.mark.parametrize("size", [0, 1, 255, 256, 4_096, 4_097, 1_000_000])
def test_an_unpacked_body_equals_the_original(encoding: str, size: int) -> None:
    content = bytes(number * number % 251 for number in range(size))
    assert unpacked(COMPRESS[encoding](content), encoding) == content


@pytest.mark.parametrize("encoding", COMPRESS)
def test_members_follow_one_another(encoding: str) -> None:
    parts = [b"x" * number for number in range(500)]
    assert unpacked(b"".join(map(COMPRESS[encoding], parts)), encoding) == b"".join(parts)


@pytest.mark.parametrize("member", [*((name, make(b"")) for name, make in COMPRESS.items())])
def test_a_body_of_the_most_members_is_read_and_one_more_is_a_413(member: tuple[str, bytes]) -> None:
    encoding, empty = member
    assert unpacked(empty * BODY_MEMBERS_MAX, encoding) == b""
    refused = refusal(empty * (BODY_MEMBERS_MAX + 1), encoding)
    assert refused.code == "LIMIT_EXCEEDED"
    assert str(BODY_MEMBERS_MAX) in refused.detail


def test_a_skippable_frame_counts_as_a_member() -> None:
    skipped = SKIPPABLE + struct.pack("<I", 3) + b"abc"
    assert unpacked(skipped + zstandard.compress(b"hi") + skipped, "zstd") == b"hi"
    empty = SKIPPABLE + bytes(4)
    assert refusal(empty * (BODY_MEMBERS_MAX + 1), "zstd").code == "LIMIT_EXCEEDED"


@pytest.mark.parametrize("encoding", COMPRESS)
def test_the_work_of_a_body_of_many_members_is_one_step_for_each(encoding: str) -> None:
    unpacking = Unpacking(COMPRESS[encoding](b"") * 9_000, encoding)
    unpacking.run()
    # A member that continues in the next piece takes one more step.
    assert 9_000 <= unpacking.steps <= 9_000 + 1
    assert unpacking.members == 9_000


@pytest.mark.parametrize("encoding", COMPRESS)
def test_what_is_not_whole_or_not_the_encoding_is_a_400(encoding: str) -> None:
    whole = COMPRESS[encoding](b"some content")
    bodies = [
        whole[:-1],
        whole[:5],
        whole + whole[:5],
        whole + b"garbage",
        whole + b"\0\0",
        b"garbage",
        b"\x1f",
    ]
    assert {refusal(body, encoding).code for body in bodies} == {"MALFORMED_BODY"}


def test_a_size_that_is_not_the_declared_one_is_a_400() -> None:
    member = bytearray(gzip.compress(b"content"))
    member[-4] ^= 1
    assert refusal(bytes(member), "gzip").code == "MALFORMED_BODY"
    frame = bytearray(zstandard.compress(b"content"))
    frame[5] ^= 1
    assert refusal(bytes(frame), "zstd").code == "MALFORMED_BODY"


def test_a_frame_with_a_huge_window_is_a_400_and_takes_no_memory() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=27)
    compressor = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    windowed = compressor.compress(b"content") + compressor.flush()
    declared = ZSTD_MAGIC + b"\xe0" + struct.pack("<Q", 1 << 60) + b"\x01\0\0"
    for frame in (windowed, declared):
        assert "memory" in refusal(frame, "zstd").detail


def test_a_frame_that_needs_a_dictionary_is_a_400() -> None:
    dictionary = zstandard.train_dictionary(1_000, [b"rider %d" % number for number in range(1_000)])
    frame = zstandard.ZstdCompressor(dict_data=dictionary).compress(b"rider 1")
    assert "ictionary" in refusal(frame, "zstd").detail


def repeated(times: int) -> bytes:
    """A zstd frame of so many blocks that each say "128 KiB of one byte"."""
    block = struct.pack("<I", (1 << 17) << 3 | 2)[:3] + b"x"
    return ZSTD_MAGIC + b"\x00\x68" + block * times


@pytest.mark.parametrize(
    ("encoding", "bomb"), [("gzip", gzip.compress(bytes(BODY_BYTES_MAX + 1))), ("zstd", repeated(2_000))]
)
def test_a_bomb_is_a_413_before_it_is_unpacked(encoding: str, bomb: bytes) -> None:
    unpacking = Unpacking(bomb, encoding)
    with pytest.raises(RequestRefused) as refused:
        unpacking.run()
    assert refused.value.code == "BODY_TOO_LARGE"
    assert len(unpacking.unpacked) <= BODY_BYTES_MAX + 64 * (1 << 17)


@pytest.mark.parametrize("encoding", COMPRESS)
def test_unpacking_stops_where_it_is_told_and_goes_on_from_there(encoding: str) -> None:
    content = bytes(number * number % 251 for number in range(1_000_000)) * 3
    unpacking = Unpacking(COMPRESS[encoding](content), encoding)
    unpacking.run(steps=1)
    assert (unpacking.steps, unpacking.is_done) == (1, False)
    unpacking.run(bytes_max=1)
    assert unpacking.steps <= 2
    unpacking.is_abandoned = True
    unpacking.run()
    assert not unpacking.is_done
    unpacking.is_abandoned = False
    unpacking.run()
    assert unpacking.unpacked == content


@pytest.mark.parametrize(
    ("values", "encoding"),
    [([], None), (["identity"], None), ([""], None), (["GZIP"], "gzip"), (["identity, zstd"], "zstd")],
)
def test_an_encoding_is_known_by_its_name(values: list[str], encoding: str | None) -> None:
    assert encoding_of(values) == encoding


@pytest.mark.parametrize("values", [["br"], ["gzip, zstd"], ["gzip", "zstd"], ["gzip", "gzip"], ["\xff"]])
def test_an_unknown_encoding_and_a_chain_are_a_415(values: list[str]) -> None:
    with pytest.raises(RequestRefused) as refused:
        encoding_of(values)
    assert refused.value.code == "UNSUPPORTED_MEDIA_TYPE"
    assert refused.value.headers == {"Accept-Encoding": "gzip, zstd"}
