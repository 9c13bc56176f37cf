"""A client for Redis over REST that sends commands to the wrong address gets the right one in the error."""

from __future__ import annotations

import pytest

from tests.support.api_client import ApiClient

WHERE = "does not accept Redis commands; send them to http://tailrace/v1/command: that is the base URL"


@pytest.fixture(scope="module")
def api() -> ApiClient:
    return ApiClient()


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/", 405),
        ("POST", "/pipeline", 404),
        ("POST", "/multi-exec", 404),
        ("GET", "/set/foo/bar", 404),
        ("GET", "/xadd/race/*/rider/Castilla", 404),
        ("POST", "/xadd/race", 404),
        ("POST", "/xadd/a%2Fb", 404),
        ("GET", "/v1/command", 405),
        ("GET", "/v1/command/xlen/race", 404),
        ("POST", "/v1/command/", 404),
        ("PUT", "/v1/command/pipeline", 405),
    ],
)
def test_a_path_that_takes_no_commands_says_where_they_are_sent(
    api: ApiClient, method: str, path: str, status: int
) -> None:
    answer = api.request(method, path, json=["XLEN", "race"])
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    content = answer.json()
    assert content["error"].startswith(f"ERR {method} {path} {WHERE}")
    assert (content["status"], content["side_effects"]) == (status, "none")


@pytest.mark.parametrize("path", ["/v1", "/v1/nowhere", "/v1/streams/race/nothing", "/v1/read"])
def test_a_path_of_the_api_says_nothing_of_commands(api: ApiClient, path: str) -> None:
    answer = api.get(path)
    assert ("error" in answer.json()) is (path == "/v1")


@pytest.mark.parametrize("host", ["race.example:8443", "[::1]:8080"])
def test_the_address_is_the_one_that_the_client_used(api: ApiClient, host: str) -> None:
    answer = api.post("/pipeline", [], headers={"Host": host})
    assert f"send them to http://{host}/v1/command:" in answer.json()["error"]
