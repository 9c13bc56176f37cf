"""The command line: help, version, document, and the errors for wrong options."""

from __future__ import annotations

import json
import re

import pytest

from tailrace.app import __version__
from tailrace.app.settings import unknown_variables
from tests.support.server_process import tailrace


def words_of(text: str) -> str:
    """The text without the frames and line breaks that a terminal's width puts into it."""
    return re.sub(r"[\s│╭╮╰╯─]+", " ", text)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--durability", "sometimes"], "'sometimes' is not one of 'always', 'interval', 'none'"),
        (["--host", "192.0.2.1"], "--host: '192.0.2.1' is not a loopback address"),
        (["--host", "example.org"], "--host: 'example.org' is not a loopback address"),
        (["--port", "70000"], "--port: Input should be less than or equal to 65535"),
        (["--cache-mb", "0"], "--cache-mb: Input should be greater than or equal to 1"),
        (["--port", "http"], "'--port': 'http' is not a whole number"),
        (["--shutdown-grace-s", "0"], "--shutdown-grace-s: Input should be greater than or equal to 1"),
        (["--log-level", "loud"], "'loud' is not one of"),
        (["--data-dir", ""], "'--data-dir': the path is empty"),
        (["--host", " "], "--host: the value is empty"),
        (["--shards", "3"], "No such option: --shards"),
    ],
)
def test_a_wrong_option_is_named_with_what_is_wrong_and_status_two(
    options: list[str], complaint: str
) -> None:
    result = tailrace("serve", *options)
    assert result.returncode == 2
    assert result.stdout == ""
    assert complaint in words_of(result.stderr)


def test_a_wrong_setting_is_named_as_the_environment_names_it() -> None:
    result = tailrace("serve", environment={"TAILRACE_DURABILITY": "sometimes"})
    assert result.returncode == 2
    text = words_of(result.stderr)
    assert "TAILRACE_DURABILITY: Input should be 'always', 'interval' or 'none', not 'sometimes'" in text


def test_an_empty_variable_is_an_error_and_not_the_current_directory() -> None:
    for name in ("DATA_DIR", "STORE", "PORT", "ALLOWED_ORIGIN", "LOG_LEVEL"):
        result = tailrace("serve", environment={f"TAILRACE_{name}": ""})
        assert result.returncode == 2
        assert f"TAILRACE_{name}: the value is empty" in words_of(result.stderr)
    for name in ("DATA_DIR", "TOKENS_FILE"):
        result = tailrace("token", "list", environment={f"TAILRACE_{name}": ""})
        assert result.returncode == 2
        assert f"TAILRACE_{name} is empty" in words_of(result.stderr)


def test_an_unknown_variable_is_named_with_the_nearest_option() -> None:
    names = ["TAILRACE_DURABLITY", "TAILRACE_URL", "TAILRACE_PORT_8080_TCP", "tailrace_port", "HOME"]
    assert list(unknown_variables(names)) == [("TAILRACE_DURABLITY", "TAILRACE_DURABILITY")]


def test_a_data_directory_that_cannot_be_made_is_one_clear_line_and_status_one() -> None:
    result = tailrace("serve", "--data-dir", "/dev/null/data")
    assert result.returncode == 1
    assert result.stderr == "tailrace: cannot use the data directory /dev/null/data: not a directory\n"


def test_help_shows_every_option_with_its_name_in_the_environment() -> None:
    shown = words_of(tailrace("serve", "--help").stdout)
    for option in (
        "host",
        "port",
        "data-dir",
        "durability",
        "cache-mb",
        "tokens-file",
        "tls-cert",
        "tls-key",
        "allowed-origin",
        "log-level",
        "log-format",
        "shutdown-grace-s",
    ):
        assert f"--{option}" in shown
        assert f"TAILRACE_{option.replace('-', '_').upper()}" in shown
    assert "tailrace serve --port 0" in shown


def test_the_version_is_printed() -> None:
    assert tailrace("version").stdout == f"tailrace {__version__}\n"


def test_the_printed_document_names_this_version_and_the_commands() -> None:
    document = json.loads(tailrace("openapi").stdout)
    operations = {route["operationId"] for path in document["paths"].values() for route in path.values()}
    assert document["info"]["version"] == __version__
    assert {"xadd", "xrange", "xreadgroup", "xack", "command"} <= operations
