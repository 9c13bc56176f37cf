"""Credentials, TLS, databases, and what is said about an engine that cannot be used. No text has a
password."""

from __future__ import annotations

import asyncio
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme

from tailrace.app.remote.link.port import LinkDown
from tests.support.links import QUICK, linked, run
from tests.support.redis_node import RedisNode, free_ports
from tests.support.redis_server import find_redis_server, required

PASSWORD = "p@ss/w0rd"  # noqa: S105 - an example
QUOTED = "p%40ss%2Fw0rd"


@pytest.fixture(scope="module")
def guarded(executable: str) -> Iterator[RedisNode]:
    """A server with a password for the default user, and a user of its own."""
    with tempfile.TemporaryDirectory(prefix="tr-") as directory:
        user = ["--user", "gate", "on", f">{PASSWORD}", "~*", "&*", "+@all"]
        node = RedisNode(executable, Path(directory), "--requirepass", PASSWORD, *user, password=PASSWORD)
        node.start()
        yield node
        node.stop()


@pytest.mark.parametrize("user", ["", "default", "gate"])
def test_credentials_of_the_url_are_used_on_all_connections(guarded: RedisNode, user: str) -> None:
    async def main() -> None:
        async with linked(f"redis://{user}:{QUOTED}@{guarded.address}") as link:
            assert await link.call([b"ACL", b"WHOAMI"], key=None, is_write=False) == (
                user.encode() or b"default"
            )
            assert await link.read_armed([[b"ACL", b"WHOAMI"]], key=b"s") == [user.encode() or b"default"]
            assert PASSWORD not in repr(vars(link)) + repr(link.url) + repr(link.router._context)

    run(main)


@pytest.mark.parametrize(
    ("credentials", "message"),
    [
        ("", "needs a password"),
        (":wrong-s3cr3t@", "refuses the user or the password"),
        ("who:wrong-s3cr3t@", "refuses"),
    ],
)
def test_wrong_credentials_are_refused_without_showing_them(
    guarded: RedisNode, credentials: str, message: str
) -> None:
    async def main() -> None:
        with pytest.raises(LinkDown, match=message) as refused:
            async with linked(f"redis://{credentials}{guarded.address}"):
                pass
        assert guarded.address in refused.value.reason
        assert "s3cr3t" not in refused.value.reason
        assert not refused.value.outcome_unknown

    run(main)


def test_the_database_of_the_url_is_used_on_all_connections(engine: RedisNode) -> None:
    async def main() -> None:
        async with (
            linked(f"redis://{engine.address}/7") as link,
            linked(f"redis://{engine.address}") as other,
        ):
            key = b"in-seven"
            await link.call([b"XADD", key, b"1-1", b"a", b"b"], key=key, is_write=True)
            assert (await link.read_armed([[b"XLEN", key]], key=key)) == [1]
            assert await other.call([b"EXISTS", key], key=key, is_write=False) == 0

    run(main)


def test_a_node_that_is_not_there_is_named_with_the_reason() -> None:
    (port,) = free_ports(1)

    async def main() -> None:
        with pytest.raises(LinkDown, match=f"127.0.0.1:{port} cannot be reached: connection refused"):
            async with linked(f"redis://127.0.0.1:{port}"):
                pass
        with pytest.raises(LinkDown, match=r"no\.such\.host\.invalid:6379 cannot be reached"):
            async with linked("redis://no.such.host.invalid"):
                pass

    run(main)


def test_a_server_that_speaks_something_else_is_named() -> None:
    async def main() -> None:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1)
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(LinkDown, match=f"127.0.0.1:{port} sent bytes that are no RESP"):
            async with linked(f"redis://127.0.0.1:{port}"):
                pass
        server.close()

    run(main)


def test_a_server_that_accepts_and_never_answers_is_named() -> None:
    async def main() -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            port = silent.getsockname()[1]
            with pytest.raises(LinkDown, match=f"127.0.0.1:{port} cannot be reached: no answer within"):
                async with linked(f"redis://127.0.0.1:{port}", QUICK):
                    pass

    run(main)


@pytest.fixture(scope="module")
def with_tls() -> Iterator[tuple[RedisNode, int, Path]]:
    """Debian's server with a certificate for `localhost`, and the file of its authority."""
    executable = find_redis_server()
    if executable is None and not required():
        pytest.skip("no redis-server")
    assert executable is not None
    with tempfile.TemporaryDirectory(prefix="tr-") as name:
        directory, authority = Path(name), trustme.CA()
        certificate = authority.issue_cert("localhost")
        authority.cert_pem.write_to_path(directory / "ca.pem")
        certificate.private_key_and_cert_chain_pem.write_to_path(directory / "server.pem")
        (port,) = free_ports(1)
        files = [f"--tls-{each}-file" for each in ("cert", "key", "ca-cert")]
        paths = [str(directory / each) for each in ("server.pem", "server.pem", "ca.pem")]
        options = [word for pair in zip(files, paths, strict=True) for word in pair]
        node = RedisNode(executable, directory, "--tls-port", str(port), "--tls-auth-clients", "no", *options)
        node.start()
        yield node, port, directory / "ca.pem"
        node.stop()


def test_tls_verifies_the_certificate_and_the_host(with_tls: tuple[RedisNode, int, Path]) -> None:
    node, tls_port, authority = with_tls

    async def main() -> None:
        known = f"ssl_ca_certs={authority}"
        for good in (
            f"localhost:{tls_port}?{known}",
            f"127.0.0.1:{tls_port}?{known}&ssl_check_hostname=false",
        ):
            async with linked(f"rediss://{good}") as link:
                assert await link.call([b"ECHO", b"x"], key=None, is_write=False) == b"x"
        for bad, message in (
            (f"localhost:{tls_port}", "certificate is refused: .*; ssl_ca_certs in the URL"),
            (
                f"127.0.0.1:{tls_port}?{known}",
                "refused: IP address mismatch.*; the URL of the store must name",
            ),
            (f"localhost:{node.port}?{known}", "if the port has no TLS, use redis://"),
        ):
            with pytest.raises(LinkDown, match=message):
                async with linked(f"rediss://{bad}"):
                    pass

    run(main)


@pytest.mark.parametrize(
    ("scheme", "end", "message"),
    [
        ("redis+cluster", "", "shows no Cluster: .*; the URL of a single server starts with redis://"),
        ("redis+sentinel", "/main", "is no Sentinel .*; name the Sentinels, whose usual port is 26379"),
    ],
)
def test_a_url_for_another_kind_of_engine_is_refused_with_what_to_write(
    engine: RedisNode, scheme: str, end: str, message: str
) -> None:
    async def main() -> None:
        with pytest.raises(LinkDown, match=f"{engine.address} {message}"):
            async with linked(f"{scheme}://{engine.address}{end}"):
                pass

    run(main)
