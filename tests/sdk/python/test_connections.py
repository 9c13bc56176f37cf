"""The transport: it keeps, drops and waits for connections, and raises the right error if one fails."""

from __future__ import annotations

import gzip
import re
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import httpx
import pytest

from tailrace_client import NO_RETRIES, Tailrace, TailraceError
from tailrace_client.connections import PooledTransport, transport_to
from tests.support.cutting_proxy import CuttingProxy

WHOLE = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


def whole_request(connection: socket.socket) -> bytes:
    """Return the received bytes, up to the end of the body."""
    data = connection.recv(65_536)
    head, _, body = data.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head.lower())
    while length and len(body) < int(length[1]):
        body += connection.recv(65_536)
    return head + b"\r\n\r\n" + body


@contextmanager
def scripted_server(
    answers: Sequence[bytes], closed: threading.Semaphore | None = None
) -> Iterator[tuple[str, list[bytes]]]:
    """A server that answers one request on each connection and closes it, and the requests that it received.

    `closed` is released for each connection once it is closed.
    """
    received: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            for answer in answers:
                connection, _ = listener.accept()
                with connection:
                    received.append(whole_request(connection))
                    connection.sendall(answer)
                if closed is not None:
                    closed.release()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", received
        thread.join(10)


@contextmanager
def transport(connections_max: int = 10) -> Iterator[PooledTransport]:
    made = PooledTransport(connections_max, verify=True)
    yield made
    made.close()


def sent(by: PooledTransport, url: str, **timeouts: float) -> httpx.Response:
    limits = {"connect": 5.0, "read": 5.0, "write": 5.0, "pool": 5.0, **timeouts}
    return by.handle_request(httpx.Request("POST", url, content=b"body", extensions={"timeout": limits}))


def test_a_connection_is_used_again_once_its_answer_was_read(base_url: str, proxy: CuttingProxy) -> None:
    with transport(connections_max=1) as pool:
        for _ in range(3):
            with httpx.Client(base_url=proxy.url, transport=PooledTransport(1, verify=True)) as client:
                assert client.get("/healthz").is_success
                assert client.get("/healthz").is_success
        answer = pool.handle_request(httpx.Request("GET", f"{base_url}/healthz"))
        assert answer.read()
        assert pool.handle_request(httpx.Request("GET", f"{base_url}/healthz")).read()
    assert proxy.connections == 3


def test_a_connection_that_was_closed_in_the_pool_is_not_used() -> None:
    closed = threading.Semaphore(0)
    with transport() as pool, scripted_server([WHOLE, WHOLE], closed) as (url, received):
        assert sent(pool, url).read() == b"ok"
        assert closed.acquire(timeout=5)
        assert sent(pool, url).read() == b"ok"
    assert len(received) == 2


def test_head_and_body_of_a_small_request_go_together() -> None:
    with transport() as pool, scripted_server([WHOLE]) as (url, received):
        sent(pool, f"{url}/a%2Fb?x=1").read()
    assert received[0].startswith(b"POST /a%2Fb?x=1 HTTP/1.1\r\nHost: 127.0.0.1:")
    assert received[0].endswith(b"\r\nContent-Length: 4\r\n\r\nbody")


@pytest.mark.parametrize("cut", range(0, len(WHOLE), 3))
def test_an_answer_that_is_cut_anywhere_is_an_error_and_never_a_short_answer(cut: int) -> None:
    with (
        transport() as pool,
        scripted_server([WHOLE[:cut]]) as (url, _),
        pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)),
    ):
        sent(pool, url).read()


CHUNKED_LINE = (
    b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    b'20\r\n{"id":"1-1","fields":{"a":"b"}}\n\r\n0\r\n\r\n'
)
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"


def test_a_chunked_answer_is_read_to_its_end() -> None:
    with transport() as pool, scripted_server([CHUNKED]) as (url, _):
        assert sent(pool, url).read() == b"hello"


@pytest.mark.parametrize("missing", [5, 7, 12])
def test_a_chunked_answer_that_is_cut_is_an_error(missing: int) -> None:
    with (
        transport() as pool,
        scripted_server([CHUNKED[:-missing]]) as (url, _),
        pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)),
    ):
        sent(pool, url).read()


def test_what_does_not_answer_in_time_may_have_got_the_request() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        transport() as pool,
        pytest.raises(httpx.ReadTimeout),
    ):
        sent(pool, f"http://127.0.0.1:{silent.getsockname()[1]}", read=0.05)


def test_who_finds_all_connections_busy_waits_for_one_and_then_gives_up() -> None:
    with transport(connections_max=1) as pool, scripted_server([WHOLE, WHOLE]) as (url, _):
        busy = sent(pool, url)
        with pytest.raises(httpx.PoolTimeout):
            sent(pool, url, pool=0.05)
        busy.close()
        assert sent(pool, url).read() == b"ok"


def test_a_connection_that_is_refused_has_sent_nothing() -> None:
    with transport(connections_max=1) as pool:
        for _ in range(3):  # and its place is free again
            with pytest.raises(httpx.ConnectError):
                sent(pool, "http://127.0.0.1:1")


def test_a_header_cannot_smuggle_another_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, transport() as pool:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        request = httpx.Request("GET", url, headers={"x": "a\r\nx-y: b"})
        with pytest.raises(httpx.LocalProtocolError):
            pool.handle_request(request)


def test_a_proxy_of_the_environment_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:3128")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    assert isinstance(transport_to("http://tailrace.example", 1, verify=True), httpx.HTTPTransport)
    assert isinstance(transport_to("http://127.0.0.1:8080", 1, verify=True), PooledTransport)


def test_what_comes_behind_an_answer_is_not_taken_for_the_next_one() -> None:
    both = WHOLE + b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nbad"
    with transport() as pool, scripted_server([both, WHOLE]) as (url, _):
        assert sent(pool, url).read() == b"ok"
        assert sent(pool, url).read() == b"ok"


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\nuntil the end",
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok?",
        b"HTTP/1.1 200 OK\r\ncontent-length: -2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\ncontent-length : 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-1\r\nok\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok!\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nx: " + b"x" * 200_000,
    ],
)
def test_what_is_no_whole_answer_of_http_is_an_error(answer: bytes) -> None:
    with (
        transport() as pool,
        scripted_server([answer]) as (url, _),
        pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)),
    ):
        sent(pool, url).read()


def test_an_answer_in_small_chunks_with_trailers_is_read_to_its_end() -> None:
    chunks = b"".join(b"1;note=x\r\n%c\r\n" % letter for letter in b"hello")
    answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n" + chunks + b"0\r\nx-sum: 1\r\n\r\n"
    with transport() as pool, scripted_server([answer]) as (url, _):
        assert sent(pool, url).read() == b"hello"


def test_an_answer_that_announces_another_one_is_passed_over() -> None:
    with transport() as pool, scripted_server([b"HTTP/1.1 100 Continue\r\n\r\n" + WHOLE]) as (url, _):
        assert sent(pool, url).read() == b"ok"


def test_an_answer_without_a_body_says_nothing_of_its_length() -> None:
    with transport() as pool, scripted_server([b"HTTP/1.1 204 No Content\r\n\r\n"]) as (url, _):
        assert sent(pool, url).read() == b""


def test_an_answer_that_is_compressed_unasked_is_understood() -> None:
    body = gzip.compress(b'{"length":3}')
    head = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: %d\r\n\r\n" % len(body)
    with scripted_server([head + body]) as (url, _), Tailrace(url) as tailrace:
        assert tailrace.stream("s").length() == 3


def test_a_refusal_that_is_compressed_unasked_is_understood() -> None:
    body = gzip.compress(b'{"code":"NOGROUP","detail":"none","status":404,"side_effects":"none"}')
    head = b"HTTP/1.1 404 Not Found\r\ncontent-type: application/problem+json\r\ncontent-encoding: gzip\r\n"
    head += b"content-length: %d\r\n\r\n" % len(body)
    with scripted_server([head + body]) as (url, _), Tailrace(url) as tailrace:
        with pytest.raises(TailraceError) as told:
            tailrace.stream("s").group("g").info()
        assert told.value.code == "NOGROUP"


def test_an_answer_of_something_in_between_names_the_request() -> None:
    page = b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 4\r\n\r\noops"
    with (
        scripted_server([page]) as (url, _),
        Tailrace(url, retry=NO_RETRIES) as tailrace,
        pytest.raises(TailraceError, match=r"GET /v1/streams/a/b/length: HTTP 502: oops"),
    ):
        tailrace.stream("a/b").length()


def test_a_request_says_what_it_must_and_how_long_its_body_is() -> None:
    page = WHOLE.replace(b"2\r\n\r\nok", b'18\r\nconnection: close\r\n\r\n{"acknowledged":1}')
    with scripted_server([page, WHOLE]) as (url, received), Tailrace(f"{url}/below/", "secret") as tailrace:
        assert tailrace.stream("a b").group("g").ack("1-1") == 1
        tailrace.stream("s").delete()
    ack, drop = (request.decode().split("\r\n") for request in received)
    assert ack[0] == "POST /below/v1/streams/a%20b/groups/g:ack HTTP/1.1"
    assert ack[1] == f"Host: {url.removeprefix('http://')}"
    assert {"Authorization: Bearer secret", "Content-Type: application/json", "Content-Length: 15"} < {*ack}
    assert ack[-1] == '{"ids":["1-1"]}'
    assert drop[0] == "DELETE /below/v1/streams/s HTTP/1.1"
    assert not any(line.startswith("Content-") for line in drop)


def test_a_token_cannot_smuggle_another_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with Tailrace(url, "a\r\nx-y: b", retry=NO_RETRIES) as tailrace, pytest.raises(TailraceError) as told:
            tailrace.stream("s").length()
    assert (told.value.code, told.value.retryable) == ("NOT_CONNECTED", False)


def test_requests_go_by_the_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    page = WHOLE.replace(b"2\r\n\r\nok", b'12\r\n\r\n{"length":3}')
    imported = WHOLE.replace(b"2\r\n\r\nok", b'47\r\n\r\n{"count":1,"first_id":"1-1","last_id":"1-1"}   ')
    with scripted_server([page, imported, CHUNKED_LINE]) as (url, received):
        monkeypatch.setenv("HTTP_PROXY", url)
        monkeypatch.delenv("NO_PROXY", raising=False)
        with Tailrace("http://tailrace.example") as tailrace:
            assert tailrace.stream("s").length() == 3
            assert tailrace.stream("s").append_many([{"rider": "Castilla"}]) == 1
            assert list(tailrace.stream("s").read()) == [("1-1", {"a": "b"})]
    assert received[0].startswith(b"GET http://tailrace.example/v1/streams/s/length HTTP/1.1\r\n")
    assert received[1].startswith(b"POST http://tailrace.example/v1/streams/s/entries:import HTTP/1.1\r\n")
    assert b"transfer-encoding" not in received[1].lower()
