"""Java's own HTTP client asks for HTTP/2 with every first request (`Upgrade: h2c`): the request is served as
HTTP/1.1, with its body."""

from __future__ import annotations

from pathlib import Path

from tests.support.pages import fenced
from tests.support.server_process import running_server
from tests.support.wire import request, wired
from tests.third_party.test_openapi_generator import found, run

SOURCE = Path(__file__).with_name("Upgrading.java")


def test_an_append_of_javas_client_keeps_its_body(tmp_path: Path) -> None:
    compiled = run(found("javac"), "-d", str(tmp_path), str(SOURCE))
    assert compiled.returncode == 0, compiled.stderr
    with running_server(tmp_path, "--durability", "none") as server:
        url = f"{server.base_url}/v1/streams/java/entries"
        ran = run(found("java"), "-cp", str(tmp_path), "Upgrading", url)
        assert ran.stdout.split("\n") == [*["HTTP_1_1 201"] * 4, ""], ran.stdout + ran.stderr
        with wired(server.port) as wire:
            answer = wire.ask(request("GET", "/v1/streams/java/length"))
        assert b"4" in answer.body
        assert "Traceback" not in server.log_text


def test_the_program_of_the_java_page_reads_what_it_appended(tmp_path: Path) -> None:
    (source,) = fenced("docs/java.md", "java")
    program = tmp_path / "Tour.java"
    program.write_text(source)
    found("javac")
    with running_server(tmp_path, "--durability", "none") as server:
        ran = run(found("java"), str(program), server.base_url)
    assert ran.returncode == 0, ran.stderr
    appended, read, acknowledged = ran.stdout.splitlines()
    assert appended == '{"id":"1-0"}'
    assert '"rider":"Castilla"' in read
    assert "1" in acknowledged
