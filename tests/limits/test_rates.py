"""Token buckets, with a clock that the test sets."""

from __future__ import annotations

import pytest

from tailrace.api.access.rates import Quota
from tailrace.api.principals import ANONYMOUS_LOCAL, Principal
from tailrace.api.server_limits import ServerLimits
from tailrace.app import token_buckets
from tailrace.app.token_buckets import TokenBuckets


class Clock:
    now_s = 1_000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


def buckets(clock: Clock, per_s: int = 10, burst: int = 0) -> TokenBuckets:
    return TokenBuckets(ServerLimits(requests_per_s=per_s, request_burst=burst), clock)


def taken(rated: TokenBuckets, who: Principal | None = None, host: str = "192.0.2.1") -> Quota:
    quota = rated.take(who, host)
    assert quota is not None
    return quota


def allowed_of(rated: TokenBuckets, tries: int) -> int:
    return sum(taken(rated).retry_after_s is None for _ in range(tries))


def token(name: str) -> Principal:
    return Principal(name, name, frozenset({"read"}), (b"*",))


def test_without_a_rate_nothing_is_counted(clock: Clock) -> None:
    unset = buckets(clock, per_s=0)
    assert not unset.is_set
    assert unset.take(None, "192.0.2.1") is None


def test_a_second_s_worth_may_come_at_once_and_then_the_rate_holds(clock: Clock) -> None:
    rated = buckets(clock)
    assert allowed_of(rated, 20) == 10
    clock.now_s += 0.5
    assert allowed_of(rated, 20) == 5


def test_a_burst_may_be_larger_or_smaller_than_a_second_s_worth(clock: Clock) -> None:
    assert allowed_of(buckets(clock, burst=25), 100) == 25
    small = buckets(clock, burst=1)
    assert allowed_of(small, 5) == 1
    clock.now_s += 60
    assert allowed_of(small, 5) == 1


def test_who_is_refused_pays_nothing_and_is_served_when_told(clock: Clock) -> None:
    rated = buckets(clock, per_s=1, burst=2)
    assert allowed_of(rated, 50) == 2
    quota = taken(rated)
    assert quota.retry_after_s == 1
    clock.now_s += quota.retry_after_s
    assert taken(rated).retry_after_s is None


def test_the_quota_says_what_remains_and_when_it_is_whole(clock: Clock) -> None:
    quota = taken(buckets(clock, per_s=2, burst=10))
    assert quota == Quota(burst=10, window_s=5, remaining=9, whole_in_s=1, retry_after_s=None)
    assert quota.headers == (
        (b"ratelimit-policy", b'"requests";q=10;w=5'),
        (b"ratelimit", b'"requests";r=9;t=1'),
    )


def test_tokens_and_addresses_are_counted_apart(clock: Clock) -> None:
    rated = buckets(clock, per_s=1)
    for who, host in (
        (None, "192.0.2.1"),
        (None, "192.0.2.2"),
        (token("a"), "192.0.2.1"),
        (token("b"), "192.0.2.1"),
        (token("address 192.0.2.1"), "192.0.2.1"),
    ):
        assert taken(rated, who, host).retry_after_s is None
        assert taken(rated, who, host).retry_after_s == 1


def test_a_token_is_one_wherever_it_comes_from_and_no_token_is_an_address(clock: Clock) -> None:
    rated = buckets(clock, per_s=1)
    assert taken(rated, token("a"), "192.0.2.1").retry_after_s is None
    assert taken(rated, token("a"), "192.0.2.2").retry_after_s == 1
    assert taken(rated, ANONYMOUS_LOCAL, "192.0.2.3").retry_after_s is None
    assert taken(rated, None, "192.0.2.3").retry_after_s == 1


def test_buckets_that_are_full_again_are_forgotten(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_buckets, "BUCKETS_MAX", 3)
    rated = buckets(clock, per_s=1)
    for host in ("192.0.2.1", "192.0.2.2"):
        taken(rated, host=host)
    clock.now_s += 1
    taken(rated, host="192.0.2.3")
    taken(rated, host="192.0.2.4")
    assert taken(rated, host="192.0.2.3").retry_after_s == 1


def test_more_addresses_than_are_kept_begin_anew(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_buckets, "BUCKETS_MAX", 3)
    rated = buckets(clock, per_s=1)
    for number in range(100):
        assert taken(rated, host=f"192.0.2.{number}").retry_after_s is None
        assert len(rated._buckets) <= 3
