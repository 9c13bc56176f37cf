"""The options of the server: where each value comes from."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from tailrace.app.settings import Durability, Settings


def test_the_environment_sets_what_no_argument_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAILRACE_PORT", "9000")
    monkeypatch.setenv("TAILRACE_DURABILITY", "none")
    monkeypatch.setenv("TAILRACE_DATA_DIR", "/here")
    settings = Settings(durability=Durability.INTERVAL)
    assert (settings.port, settings.data_dir) == (9000, Path("/here"))
    assert settings.durability is Durability.INTERVAL
    assert settings.model_fields_set == {"port", "data_dir", "durability"}


def test_the_letter_case_of_a_variable_makes_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("tailrace_websockets_max", "7")
    assert Settings().websockets_max == 7


def test_spaces_separate_origins_and_headers_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAILRACE_ALLOWED_ORIGIN", "https://a.example https://b.example")
    assert Settings().allowed_origin == ("https://a.example", "https://b.example")
    monkeypatch.setenv("TAILRACE_ALLOWED_HEADER", "X-Requested-With X-Other")
    assert Settings().allowed_header == ("X-Requested-With", "X-Other")


def test_other_variables_with_the_prefix_have_no_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAILRACE_COLOUR", "blue")
    assert Settings().model_fields_set == set()


def test_an_invalid_variable_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAILRACE_PORT", "many")
    with pytest.raises(ValidationError, match="port"):
        Settings()


def test_an_unknown_argument_is_refused() -> None:
    with pytest.raises(ValidationError, match="colour"):
        Settings(colour="blue")  # type: ignore[call-arg]
