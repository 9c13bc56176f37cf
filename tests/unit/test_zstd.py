"""An object of zstandard is never used by two threads at the same time, and is used again."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import zstandard

from tailrace.core.log import zstd as zstd_module
from tailrace.core.log.zstd import Zstd

THREADS = 3
WITHIN_S = 10


class Meeting:
    """Makes objects in place of those of zstandard. A call returns when `THREADS` calls run."""

    def __init__(self) -> None:
        self.made = 0
        self.barrier = threading.Barrier(THREADS, timeout=WITHIN_S)

    def make(self, **_options: object) -> Meeting:
        self.made += 1
        meeting, owner = self, object()
        in_use: list[object] = []

        class Exclusive(Meeting):
            def compress(self, content: bytes) -> bytes:
                assert not in_use, "another thread uses this object"
                in_use.append(owner)
                meeting.barrier.wait()
                in_use.clear()
                return content

            decompress = compress

        return Exclusive()


@pytest.mark.parametrize("name", ["compress", "decompress"])
def test_calls_at_the_same_time_use_an_object_each_and_later_calls_use_them_again(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    meeting = Meeting()
    monkeypatch.setattr(zstd_module, "ZstdCompressor", meeting.make)
    monkeypatch.setattr(zstd_module, "ZstdDecompressor", meeting.make)
    call = getattr(Zstd(), name)
    with ThreadPoolExecutor(THREADS) as pool:
        for _ in range(4):
            assert list(pool.map(call, [b"1", b"2", b"3"])) == [b"1", b"2", b"3"]
    assert meeting.made == THREADS


def test_a_frame_holds_its_content_and_its_size() -> None:
    zstd = Zstd()
    for content in (b"", b"a", bytes(range(256)) * 1000):
        packed = zstd.compress(content)
        assert zstandard.frame_content_size(packed) == len(content)
        assert zstd.decompress(packed) == content


def test_after_a_frame_that_is_none_the_next_one_is_read() -> None:
    zstd = Zstd()
    packed = zstd.compress(b"content")
    with pytest.raises(zstandard.ZstdError):
        zstd.decompress(b"no frame")
    assert zstd.decompress(packed) == b"content"
