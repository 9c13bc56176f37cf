"""The conditions for a start: tokens and hosts, TLS, origins. And the records of what happened."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import ssl
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
import trustme
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin

from tailrace.app.tokens.usage import read_usage
from tests.security.conftest import SecuredServer
from tests.support.server_process import TAILRACE, ServerProcess, running_server, tailrace
from tests.support.sockets import open_socket
from tests.support.tokens import ALL_SCOPES, bearer, id_of, make_token, revoke_token

JSON = {"Content-Type": "application/json"}
EVERYWHERE = "0.0.0.0"  # noqa: S104 - what is to be refused without tokens


# --- public addresses ------------------------------------------------------------------------------------


def test_without_tokens_a_public_address_is_refused_with_what_to_do(tmp_path: Path) -> None:
    result = tailrace("serve", "--host", EVERYWHERE, "--port", "0", "--data-dir", str(tmp_path))
    told = " ".join(result.stderr.replace("│", " ").split())
    assert (result.returncode, result.stdout) == (2, "")
    assert (
        "'0.0.0.0' is not a loopback address, and without tokens the server listens on loopback only" in told
    )
    assert "tailrace token create NAME --scope read --tokens-file" in told


def test_with_tokens_a_public_address_is_served_to_those_who_have_one(tmp_path: Path) -> None:
    text = make_token(tmp_path / "data" / "tokens.json", "read")
    with running_server(tmp_path, "--host", EVERYWHERE) as process:
        url = f"http://127.0.0.1:{process.port}"
        assert httpx.get(f"{url}/v1/streams").status_code == 401
        assert httpx.get(f"{url}/v1/streams", headers={"Host": "streams.example"}).status_code == 401
        named = httpx.get(f"{url}/v1/streams", headers={"Host": "streams.example", **bearer(text)})
        assert named.status_code == 200
        assert "sent unencrypted" in process.log_text


@pytest.mark.parametrize(
    ("content", "complaint"),
    [(None, "cannot read the tokens file {path}: no such file"), (b"{", "{path} is not a tokens file")],
)
def test_a_tokens_file_that_is_no_good_is_refused_at_the_start(
    tmp_path: Path, content: bytes | None, complaint: str
) -> None:
    path = tmp_path / "tokens.json"
    if content is not None:
        path.write_bytes(content)
    options = ("--port", "0", "--data-dir", str(tmp_path / "data"), "--tokens-file", str(path))
    result = tailrace("serve", *options)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("tailrace: " + complaint.format(path=path))
    assert not (tmp_path / "data").exists()


def test_a_rebound_name_is_refused_on_both_ways_to_a_hot_route(tmp_path: Path) -> None:
    with running_server(tmp_path, "--durability", "none") as process:
        url, entry = f"{process.base_url}/v1/streams/s/entries", b'{"fields":{"a":"1"}}'
        for extra in ({}, {"Prefer": "nothing"}):
            answers = [
                httpx.post(url, content=entry, headers={**JSON, **extra, "Host": host}).status_code
                for host in ("rebound.example", "localhost:1", "127.0.0.1")
            ]
            assert answers == [421, 201, 201]


# --- TLS -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def issue(authority: trustme.CA, directory: Path) -> None:
    issued = authority.issue_cert("127.0.0.1", "localhost")
    issued.cert_chain_pems[0].write_to_path(directory / "cert.pem")
    issued.private_key_pem.write_to_path(directory / "key.pem")


@pytest.fixture(scope="module")
def certificate(
    authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path, ssl.SSLContext]:
    """A certificate, its key, and a client that trusts who signed it."""
    directory = tmp_path_factory.mktemp("certificate")
    issue(authority, directory)
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return directory / "cert.pem", directory / "key.pem", context


@pytest.fixture(scope="module")
def tls_server(
    tmp_path_factory: pytest.TempPathFactory, certificate: tuple[Path, Path, ssl.SSLContext]
) -> Iterator[Any]:
    cert, key, _ = certificate
    directory = tmp_path_factory.mktemp("tls")
    with running_server(directory, "--tls-cert", str(cert), "--tls-key", str(key)) as process:
        yield process


def test_tls_is_spoken_on_every_way(tls_server: Any, certificate: tuple[Path, Path, ssl.SSLContext]) -> None:
    context = certificate[2]
    assert tls_server.base_url.startswith("https://")
    with httpx.Client(base_url=tls_server.base_url, verify=context) as client:
        for extra in ({}, {"Prefer": "nothing"}):
            answer = client.post("/v1/streams/s/entries", json={"fields": {"a": "1"}}, headers=extra)
            assert answer.status_code == 201
        assert client.get("/v1/streams/s/length").json() == {"length": 2}
    url = tls_server.base_url.replace("https", "wss") + "/v1/ws"
    assert "hello" in asyncio.run(first_message(url, context, tls_server.base_url))


async def first_message(url: str, context: ssl.SSLContext, origin: str) -> Any:
    """Return the first message on a socket.

    One thread reads and writes. The synchronous client reads a TLS connection in one thread while another
    thread writes; once in thousands of times it then reports that the connection has ended.
    """
    async with connect(url, ssl=context, origin=Origin(origin)) as opened:
        return json.loads(await opened.recv())


def test_a_hangup_loads_a_renewed_certificate_and_refuses_an_unusable_one(
    tls_server: ServerProcess, authority: trustme.CA, certificate: tuple[Path, Path, ssl.SSLContext]
) -> None:
    cert, _, context = certificate
    with httpx.Client(base_url=tls_server.base_url, verify=context) as client:
        assert client.get("/healthz").status_code == 200
        first = served_certificate(tls_server, context)
        issue(authority, cert.parent)
        hang_up(tls_server, "the certificate was reloaded")
        second = served_certificate(tls_server, context)
        assert second != first
        cert.write_text("-----BEGIN CERTIFICATE-----")
        hang_up(tls_server, "the new certificate is unusable; the old one stays")
        assert served_certificate(tls_server, context) == second
        assert client.get("/healthz").status_code == 200


def test_a_certificate_is_renewed_when_both_of_its_files_have_changed(
    tls_server: ServerProcess, authority: trustme.CA, certificate: tuple[Path, Path, ssl.SSLContext]
) -> None:
    cert, key, context = certificate
    first = served_certificate(tls_server, context)
    with tempfile.TemporaryDirectory() as renewed:
        issue(authority, Path(renewed))
        for path in (key, cert):
            Path(renewed, path.name).replace(path)
    wait_until(lambda: served_certificate(tls_server, context) != first)


def hang_up(server: ServerProcess, event: str) -> None:
    server.signal(signal.SIGHUP)
    wait_until(lambda: event in server.log_text)


def wait_until(holds: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline_s
        time.sleep(0.01)


def served_certificate(server: ServerProcess, context: ssl.SSLContext) -> bytes | None:
    with (
        socket.create_connection(("127.0.0.1", server.port)) as connection,
        context.wrap_socket(connection, server_hostname="127.0.0.1") as secure,
    ):
        return secure.getpeercert(binary_form=True)


def speaking(version: ssl.TLSVersion) -> ssl.SSLContext:
    """A client that speaks this version alone, however weak."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.minimum_version = context.maximum_version = version
    context.set_ciphers("ALL:@SECLEVEL=0")
    return context


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_tls_1_2_and_later_are_spoken(tls_server: Any, version: ssl.TLSVersion) -> None:
    with socket.create_connection(("127.0.0.1", tls_server.port)) as connection:
        assert speaking(version).wrap_socket(connection).version() == version.name.replace("_", ".")


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion.TLSv1_1 is deprecated")
def test_what_is_older_is_refused(tls_server: Any) -> None:
    with socket.create_connection(("127.0.0.1", tls_server.port)) as connection:
        context = speaking(ssl.TLSVersion.TLSv1_1)
        with pytest.raises(ssl.SSLError):
            context.wrap_socket(connection)


def test_a_client_without_tls_is_not_answered(tls_server: Any) -> None:
    with pytest.raises(httpx.HTTPError):
        httpx.get(f"http://127.0.0.1:{tls_server.port}/healthz")


@pytest.mark.parametrize(
    ("options", "complaint", "status"),
    [
        (["--tls-cert", "cert.pem"], "--tls-cert and --tls-key must be given together", 2),
        (["--tls-key", "key.pem"], "--tls-cert and --tls-key must be given together", 2),
        (["--tls-cert", "/nowhere", "--tls-key", "/nowhere"], "cannot use the certificate /nowhere", 1),
        (
            ["--tls-cert", __file__, "--tls-key", __file__],
            "not a PEM certificate with its unencrypted key",
            1,
        ),
        (["--allowed-origin", "*"], "'*' is not an origin", 2),
        (["--allowed-origin", "https://a.example/"], "'https://a.example/' is not an origin", 2),
        (["--allowed-origin", "HTTPS://a.example"], "'HTTPS://a.example' is not an origin", 2),
        (["--allowed-header", "*"], "'*' is not the name of a header", 2),
    ],
)
def test_options_that_promise_what_is_not_so_are_refused(
    tmp_path: Path, options: list[str], complaint: str, status: int
) -> None:
    result = tailrace("serve", "--port", "0", "--data-dir", str(tmp_path), *options)
    assert (result.returncode, result.stdout) == (status, "")
    assert complaint in " ".join(result.stderr.replace("│", " ").split())


def test_allowed_origins_come_from_arguments_or_the_environment(tmp_path: Path) -> None:
    origins = ("https://a.example", "http://localhost:3000")
    environment = {"TAILRACE_ALLOWED_ORIGIN": " ".join(origins)}
    with running_server(tmp_path, "--durability", "none", environment=environment) as process:
        for origin in origins:
            answer = httpx.get(f"{process.base_url}/v1/streams", headers={"Origin": origin})
            assert answer.headers["access-control-allow-origin"] == origin
        with open_socket(process.base_url, origin=origins[0]) as opened:
            assert "hello" in json.loads(opened.recv())
        with pytest.raises(InvalidStatus, match="403"):
            open_socket(process.base_url, origin="https://b.example")


# --- what is written down ----------------------------------------------------------------------------------


def audit_lines(secured: SecuredServer) -> list[dict[str, Any]]:
    records = secured.process.log_records
    return [record for record in records if record["logger"] == "tailrace.audit"]


def test_administrative_acts_are_written_down_and_others_not(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    text = make_token(path, *ALL_SCOPES, name="ops")
    limited = make_token(path, "read", name="limited")
    options = ("--tokens-file", str(path), "--log-level", "error")
    with running_server(tmp_path, *options) as process:
        secured = SecuredServer(process, path)
        url = secured.url
        with httpx.Client(base_url=url, headers=bearer(text)) as client:
            client.put("/v1/streams/a%20b", headers={"X-Request-Id": "mine-1"})
            client.get("/v1/streams")
            client.post("/v1/streams/a%20b/entries", json={"fields": {"a": "secret value"}})
            client.delete("/v1/streams/a%20b/groups/none")
            client.post("/v1/command", json=["CONFIG", "SET", "stream-idmp-maxsize", "50"])
            client.post("/v1/command/pipeline", json=[["KEYS", "*"], ["DEL", "x", "y"], ["FLUSHALL"]])
            client.delete("/v1/streams/x", headers=bearer(limited))
        with open_socket(url, headers=bearer(text)) as opened:
            opened.recv()
            opened.send(json.dumps({"id": 1, "op": "command", "command": ["DEL", "over-a-socket"]}))
            opened.recv()
        revoke_token(path, limited)
        while httpx.get(f"{url}/v1/limits", headers=bearer(limited)).status_code != 401:
            pass
        lines = audit_lines(secured)
    acts = [(line["token"], line["operation"], line["keys"], line["outcome"]) for line in lines]
    assert acts == [
        ("ops", "create_stream", ["a b"], "done"),
        ("ops", "xgroup_destroy", ["a b"], "done"),
        ("ops", "config|set", [], "done"),
        ("ops", "del", ["x", "y"], "done"),
        ("ops", "flushall", [], "done"),
        ("limited", "delete_stream", ["x"], "denied"),
        ("ops", "del", ["over-a-socket"], "done"),
        ("limited", "token_revoked", [], "seen"),
    ]
    assert lines[0]["request_id"] == "mine-1"
    assert lines[0]["token_id"] == id_of(text)


def test_the_last_use_of_a_token_is_written_at_the_stop(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    used, unused = make_token(path, "append"), make_token(path, "read")
    before = path.read_bytes()
    with running_server(tmp_path, "--tokens-file", str(path)) as process:
        url = f"{process.base_url}/v1/streams/s/entries"
        httpx.post(url, json={"fields": {"a": "1"}}, headers=bearer(used)).raise_for_status()
        process.signal(signal.SIGTERM)
        assert process.wait() == 0
    assert list(read_usage(path)) == [id_of(used)]
    assert id_of(unused) not in read_usage(path)
    assert path.read_bytes() == before


def test_nothing_of_a_token_or_a_ticket_is_to_be_found_anywhere(tmp_path: Path) -> None:
    """Logs at the finest level, metrics, every answer, the process list, the files."""
    path = tmp_path / "tokens.json"
    text = make_token(path, *ALL_SCOPES, name="ops")
    wrong = text[:-1] + ("0" if text[-1] != "0" else "1")
    shown: list[str] = []
    options = ("--tokens-file", str(path), "--log-level", "debug")
    with running_server(tmp_path, *options, program=TAILRACE) as process:
        url = process.base_url
        with httpx.Client(base_url=url) as client:
            for header in (f"Bearer {text}", f"Bearer {wrong}", text, f"Basic {text}"):
                shown.extend(_answers(client, {"Authorization": header}, f"/v1/streams?token={text}"))
            ticket = client.post("/v1/tickets", headers=bearer(text)).json()["ticket"]
            shown.append(_all_of(client.get("/metrics", headers=bearer(text))))
        shown.append(_handshake(url, f"tailrace.ticket.{ticket}"))
        shown.append(_handshake(url, "tailrace.v1.json", f"tailrace.ticket.{ticket}"))
        revoke_token(path, text)
        while httpx.get(f"{url}/v1/limits", headers=bearer(text)).status_code != 401:
            pass
        places = {
            "answers": "".join(shown),
            "log": process.log_text,
            "process list": _process_list(),
            "files": _files_below(tmp_path),
        }
    secrets = {"token": text.split("_")[2], "nearly a token": wrong.split("_")[2], "ticket": ticket}
    for place, content in places.items():
        assert content
        for what, secret in secrets.items():
            assert secret not in content, f"a {what} in the {place}"
    sizes = {place: len(content) for place, content in places.items()}
    print(f"searched (characters): {sizes}")  # noqa: T201 - the figures


def _answers(client: httpx.Client, headers: dict[str, str], *urls: str) -> Iterator[str]:
    for url in ("/v1/streams", "/v1/limits", "/metrics", "/v1/nowhere", "/docs", *urls):
        yield _all_of(client.get(url, headers=headers))
    yield _all_of(client.post("/v1/streams/s/entries", json={"fields": {"a": "1"}}, headers=headers))
    yield _all_of(client.post("/v1/command", json=["FLUSHALL"], headers=headers))


def _all_of(response: httpx.Response) -> str:
    return f"{response.status_code} {response.headers} {response.text}"


def _handshake(url: str, *subprotocols: str) -> str:
    """Return the response of the server to a handshake."""
    try:
        with open_socket(url, *subprotocols) as opened:
            return f"{opened.response} {opened.recv()!r}"
    except InvalidStatus as refused:
        return f"{refused.response.headers} {refused.response.body!r}"


def _process_list() -> str:
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended meanwhile
            found.append(file.read_text("latin-1"))
    return "".join(found)


def _files_below(directory: Path) -> str:
    files = (file for file in directory.rglob("*") if file.is_file())
    return "".join(file.read_bytes().decode("latin-1") for file in files)
