"""The client at a server with tokens and TLS."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
import trustme

from tailrace_client import NO_RETRIES, AsyncTailrace, Tailrace, TailraceError
from tests.support.server_process import ServerProcess, running_server
from tests.support.tokens import make_token


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def trusting(authority: trustme.CA) -> ssl.SSLContext:
    """A context that trusts the server's certificate."""
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


@pytest.fixture(scope="module")
def tokens_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tokens") / "tokens.json"


@pytest.fixture(scope="module")
def token(tokens_file: Path) -> str:
    return make_token(tokens_file, "read", "append", "consume", keys=["race:*"])


@pytest.fixture(scope="module")
def guarded(
    tmp_path_factory: pytest.TempPathFactory,
    authority: trustme.CA,
    tokens_file: Path,
    token: str,  # noqa: ARG001 - the tokens file has it
) -> Iterator[ServerProcess]:
    """A server with TLS that knows `token`."""
    directory = tmp_path_factory.mktemp("guarded")
    issued = authority.issue_cert("127.0.0.1")
    issued.cert_chain_pems[0].write_to_path(directory / "cert.pem")
    issued.private_key_pem.write_to_path(directory / "key.pem")
    options = ("--tls-cert", str(directory / "cert.pem"), "--tls-key", str(directory / "key.pem"))
    with running_server(directory, *options, "--tokens-file", str(tokens_file)) as process:
        yield process


def test_a_token_opens_what_it_is_for_over_tls(
    guarded: ServerProcess, token: str, trusting: ssl.SSLContext
) -> None:
    with Tailrace(guarded.base_url, token, verify=trusting) as client:
        race = client.stream("race:blocking")
        assert race.append_many({"n": str(n)} for n in range(2_500)) == 2_500
        assert [fields["n"] for _, fields in race.read()] == [str(n) for n in range(2_500)]
        assert len(list(islice(race.tail("0"), 10))) == 10
        with pytest.raises(TailraceError) as refused:
            client.stream("other").append({"a": "b"})
        assert (refused.value.status, refused.value.retryable) == (403, False)


def test_the_async_client_shows_its_token_too(
    guarded: ServerProcess, token: str, trusting: ssl.SSLContext
) -> None:
    async def main() -> int:
        async with AsyncTailrace(guarded.base_url, token, verify=trusting) as client:
            return await client.stream("race:awaiting").append_many([{"a": "b"}] * 3)

    assert asyncio.run(main()) == 3


def test_a_wrong_token_is_refused_at_once_and_shown_nowhere(
    guarded: ServerProcess, trusting: ssl.SSLContext
) -> None:
    with (
        Tailrace(guarded.base_url, "tlr_wrong_secret", verify=trusting) as client,
        pytest.raises(TailraceError) as refused,
    ):
        client.stream("race:france").length()
    assert refused.value.status == 401
    assert "secret" not in repr(refused.value)
    assert "secret" not in repr(client.session.settings)


def test_a_certificate_that_is_not_trusted_is_not_connected_to(guarded: ServerProcess, token: str) -> None:
    with (
        Tailrace(guarded.base_url, token, retry=NO_RETRIES) as client,
        pytest.raises(TailraceError, match="CERTIFICATE_VERIFY_FAILED") as refused,
    ):
        client.stream("race:france").length()
    assert (refused.value.code, refused.value.side_effects) == ("NOT_CONNECTED", "none")
