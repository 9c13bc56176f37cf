"""The options of the sink: accepted, or refused with a message, before any read or write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tailrace_spark import TailraceSink
from tailrace_spark.endpoint import TokenSource, urls_of
from tailrace_spark.errors import BadOption

URL = "http://127.0.0.1:1"
SECRET = "tlr_1_not-to-be-seen"  # noqa: S105 - it opens nothing


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"chunkRows": 5}, "unknown option 'chunkRows'; did you mean 'chunk_rows'?"),
        (
            {"deadletter_stream": "d"},
            "unknown option 'deadletter_stream'; did you mean 'dead_letter_stream'?",
        ),
        ({"x": 1}, "unknown option 'x'; the options are ca_file, chunk_bytes"),
        ({"chunk_rows": 0}, "chunk_rows: 0 is not an integer from 1 to 100000"),
        ({"chunk_rows": True}, "chunk_rows: True is not an integer from 1 to 100000"),
        ({"chunk_bytes": "many"}, "chunk_bytes: 'many' is not an integer from 1024 to 67108864"),
        ({"retry_deadline_s": -1}, "retry_deadline_s: -1 is not a number of seconds from 0 to 86400"),
        ({"timeout_s": "soon"}, "timeout_s: 'soon' is not a number of seconds from 0.1 to 3600"),
        ({"commit": "row"}, "commit: 'row' is not one of batch, chunk"),
        ({"compression": "lz4"}, "compression: 'lz4' is not one of none, gzip, zstd"),
        ({"dead_letter_stream": ""}, "dead_letter_stream: '' is not a string with at least one character"),
        (
            {"producer_id": "zwölf"},
            "producer_id: 'zwölf' is not a string of up to 400 printable ASCII characters",
        ),
        ({"token_env": "A", "token_file": "b"}, "token_env and token_file: only one of them can be set"),
    ],
)
def test_an_option_that_cannot_be_is_refused_with_a_sentence(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadOption) as refusal:
        TailraceSink(URL, "s", **options)
    assert str(refusal.value).startswith(sentence)


def test_a_stream_is_needed_unless_rows_name_theirs() -> None:
    with pytest.raises(
        BadOption, match="stream: it is None; pass the name of a stream, or set `stream_column`"
    ):
        TailraceSink(URL, None)
    TailraceSink(URL, None, stream_column="_stream")


def test_numbers_may_be_given_as_text() -> None:
    TailraceSink(URL, "s", chunk_rows="100", retry_deadline_s="1.5")


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("tailrace:8080", "'tailrace:8080' is not a valid URL; use http://host:port"),
        ("http://:8080", "'http://:8080' is not a valid URL"),
        ("http://host:port", "'http://host:port' is not a valid URL"),
        (f"http://me:{SECRET}@host", "it contains a user, a password or a query"),
        (f"http://host?token={SECRET}", "it contains a user, a password or a query"),
        (
            f"ftp://me:{SECRET}@host?token={SECRET}",
            "'host' is not a valid URL",
        ),
    ],
)
def test_a_url_that_cannot_be_is_refused_and_its_secrets_are_not_repeated(url: str, sentence: str) -> None:
    with pytest.raises(BadOption) as refusal:
        urls_of(url)
    assert sentence in str(refusal.value)
    assert SECRET not in str(refusal.value)


def test_several_urls_may_be_given_in_a_list_or_between_commas() -> None:
    assert (
        urls_of("http://a:1/, https://b")
        == urls_of(["http://a:1", "https://b/"])
        == ("http://a:1", "https://b")
    )


def test_the_token_is_read_where_the_task_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    by_environment, by_file = TokenSource(None, "TLR"), TokenSource(token_file=str(tmp_path / "token"))
    with pytest.raises(BadOption, match=r"token_env: the variable TLR is not set where the task runs"):
        by_environment.read()
    with pytest.raises(
        BadOption, match=r"token_file: .* cannot be read where the task runs \(FileNotFoundError\)"
    ):
        by_file.read()
    monkeypatch.setenv("TLR", SECRET)
    (tmp_path / "token").write_text(f"{SECRET}\n")
    assert by_environment.read() == by_file.read() == TokenSource(SECRET).read() == SECRET
    (tmp_path / "token").write_text("\n")
    with pytest.raises(BadOption, match="is empty where the task runs"):
        by_file.read()


def test_a_repr_does_not_show_the_token() -> None:
    sink = TailraceSink(URL, "s", SECRET)
    assert SECRET not in repr(sink)
    assert SECRET not in repr(TokenSource(SECRET))
