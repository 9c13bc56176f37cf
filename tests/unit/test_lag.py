"""Where XINFO does not know the lag of a group, the engine counts the entries that it has not read."""

from __future__ import annotations

from random import Random

import pytest

from tailrace.core.lag import lag_of, unread_count, unread_since_ms
from tests.support.redis_like import R


@pytest.mark.parametrize("seed", range(20))
def test_where_the_lag_is_nil_the_unread_entries_are_counted_and_the_first_is_found(seed: int) -> None:
    r, random = R(1), Random(seed)
    r.run("CONFIG", "SET", "stream-node-max-entries", 3)
    places = sorted(random.sample(range(1, 40), 14))
    for place in places:
        r.run("XADD", "s", f"{place}-0", "f", "v")
    for place in [place for place in places if random.random() < 0.3]:
        r.run("XDEL", "s", f"{place}-0")
    live = {place for place in places if r.run("XRANGE", "s", f"{place}-0", f"{place}-0")}
    for place in range(41):
        r.run("XGROUP", "CREATE", "s", f"g{place}", f"{place}-0")
        stream = r.engine.keyspace.streams[b"s"]
        group = stream.groups[b"g%d" % place]
        unread = [each for each in live if each > place]
        expected, first_ms = len(unread), min(unread, default=None)
        assert unread_count(stream, group) == expected
        assert unread_count(stream, group, decode=False) in (None, expected)
        assert lag_of(stream, group) in (None, expected)
        assert unread_since_ms(stream, group) == first_ms
        assert unread_since_ms(stream, group, decode=False) in (None, first_ms)
