"""The URL of a store: what it means, and what is refused without ever showing a password."""

from __future__ import annotations

import pytest

from tailrace.app.remote.link.url import BadStoreUrl, parse_store_url

PASSWORD = "s3cr3t"  # noqa: S105 - an example


@pytest.mark.parametrize(
    ("text", "kind", "shown"),
    [
        ("redis://host", "single", "redis://host:6379"),
        ("redis://host:7000/3", "single", "redis://host:7000/3"),
        ("valkey://[::1]:7000", "single", "valkey://[::1]:7000"),
        ("rediss://host", "single", "rediss://host:6379"),
        ("redis://:s3cr3t@host", "single", "redis://host:6379"),
        ("redis://user:s3cr3t@host:1/0", "single", "redis://host:1"),
        ("redis+cluster://a,b:7001", "cluster", "redis+cluster://a:6379,b:7001"),
        ("valkey+cluster://u:s3cr3t@a:1,b:2", "cluster", "valkey+cluster://a:1,b:2"),
        ("redis+sentinel://a,b:7001/main", "sentinel", "redis+sentinel://a:26379,b:7001/main"),
        ("rediss+sentinel://a/main/2", "sentinel", "rediss+sentinel://a:26379/main/2"),
    ],
)
def test_a_url_names_the_kind_and_the_addresses_and_is_shown_without_credentials(
    text: str, kind: str, shown: str
) -> None:
    url = parse_store_url(text)
    assert (url.kind, str(url)) == (kind, shown)
    assert PASSWORD not in repr(url)


def test_credentials_are_decoded() -> None:
    url = parse_store_url("redis://us%40er:p%2Fw%3A@host")
    assert (url.username, url.password) == ("us@er", "p/w:")


def test_only_a_scheme_with_two_s_uses_tls() -> None:
    assert parse_store_url("redis://host").tls is None
    assert parse_store_url("valkey+cluster://host").tls is None
    for scheme in ("rediss", "valkeys", "rediss+cluster", "valkeys+sentinel"):
        tls = parse_store_url(f"{scheme}://host/{'main' if 'sentinel' in scheme else ''}").tls
        assert tls is not None
        assert tls.check_hostname


def test_options_of_tls_turn_its_checks_off() -> None:
    tls = parse_store_url("rediss://host?ssl_cert_reqs=none").tls
    assert tls is not None
    assert not tls.verify_mode
    named = parse_store_url("rediss://host?ssl_check_hostname=false").tls
    assert named is not None
    assert not named.check_hostname


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must start with redis://"),
        ("host:6379", "must start with redis://"),
        ("http://host", "http:// does not"),
        ("redis+unix://host", "redis+unix:// does not"),
        ("redis://", "names no host"),
        ("redis://u:s3cr3t@", "names no host"),
        ("redis://a,b", "names 2 hosts"),
        ("redis://host:0", "the port 0"),
        ("redis://host:65536", "the port 65536"),
        ("redis://u:s3cr3t@ho st", "'ho st'"),
        ("redis://::1", "brackets"),
        ("redis://s3cr3t@host", "the colon is missing"),
        ("redis://user:@host", "'user' without a password"),
        ("redis://host/one", "the database 'one'"),
        ("redis://host/-1", "the database '-1'"),
        ("redis+cluster://host/1", "only the database 0"),
        ("redis+sentinel://host", "the name of the master"),
        ("redis+sentinel://host/main/x", "the database 'x'"),
        ("redis://host?db=1", "unknown option 'db'"),
        ("rediss://host?ssl_ca_certs=/none", "names no file: '/none'"),
        ("rediss://host?ssl_cert_reqs=maybe", "ssl_cert_reqs='maybe'"),
    ],
)
def test_a_bad_url_is_refused_with_what_is_wrong_and_without_the_password(text: str, message: str) -> None:
    with pytest.raises(BadStoreUrl) as refused:
        parse_store_url(text)
    assert message in str(refused.value)
    assert PASSWORD not in str(refused.value)
