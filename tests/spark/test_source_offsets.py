"""What `startingOffsets` and `endingOffsets` may say, and how ids lie below and above each other."""

from __future__ import annotations

import pytest

from tailrace_spark.entry_ids import earlier, just_above, just_below, later
from tailrace_spark.errors import BadOption
from tailrace_spark.source.options import read_options, write_options
from tailrace_spark.source.selection import Bound, ending_bound, starting_bound

SEQ_MAX = (1 << 64) - 1
REQUIRED = {"url": "http://127.0.0.1:1", "stream": "s"}


@pytest.mark.parametrize(
    ("value", "bound"),
    [
        (None, Bound("earliest")),
        ("Earliest", Bound("earliest")),
        ("5-3", Bound("id", "5-2")),
        ("5-0", Bound("id", f"4-{SEQ_MAX}")),
        ("0-0", Bound("id", "0-0")),
        ("1767225600000", Bound("time", f"1767225599999-{SEQ_MAX}")),
        ("2026-01-01T00:00:00Z", Bound("time", f"1767225599999-{SEQ_MAX}")),
        ("2026-01-01T01:00:00+01:00", Bound("time", f"1767225599999-{SEQ_MAX}")),
        ("2026-01-01", Bound("time", f"1767225599999-{SEQ_MAX}")),
    ],
)
def test_a_start_is_the_id_just_below_the_first_that_is_read(value: str | None, bound: Bound) -> None:
    assert starting_bound(value) == bound


@pytest.mark.parametrize(
    ("value", "last_id"),
    [
        ("5-3", "5-3"),
        ("5", f"5-{SEQ_MAX}"),
        (None, f"{SEQ_MAX}-{SEQ_MAX}"),
        ("latest", f"{SEQ_MAX}-{SEQ_MAX}"),
    ],
)
def test_an_end_is_the_last_id_that_is_read(value: str | None, last_id: str) -> None:
    assert ending_bound(value).id == last_id


@pytest.mark.parametrize(
    "value", ["yesterday", "5-", "-5", "5-x", "²-0", f"{SEQ_MAX + 1}-0", "1960-01-01", ""]
)
def test_a_start_that_says_nothing_is_refused(value: str) -> None:
    with pytest.raises(BadOption, match=r"startingOffsets: .* is not earliest, latest, an entry id"):
        starting_bound(value)


def test_ids_compare_as_numbers() -> None:
    assert later("9-10", "10-9") == "10-9"
    assert earlier("1-10", "1-9") == "1-9"
    assert just_above(f"1-{SEQ_MAX}") == "2-0"
    assert just_below(just_above("7-7")) == "7-7"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"startingoffset": "5-0"}, "unknown option 'startingoffset'; did you mean 'startingOffsets'?"),
        ({"minPartitions": "0"}, "minPartitions: '0' is not an integer from 1 to 10000"),
        ({"failOnDataLoss": "perhaps"}, "failOnDataLoss: 'perhaps' is not one of true, false"),
        ({"mode": "drop"}, "mode: 'drop' is not one of permissive, dropmalformed, failfast"),
        ({"token": "a", "tokenFile": "b"}, "token and token_file: only one of them can be set"),
        ({"endingOffsets": "earliest"}, "endingOffsets: 'earliest' leaves nothing to read"),
        ({"chunkRows": "5"}, "unknown option 'chunkRows'"),
    ],
)
def test_an_option_of_a_read_that_cannot_be_is_refused_with_a_sentence(
    given: dict[str, str], sentence: str
) -> None:
    with pytest.raises(BadOption) as refusal:
        read_options({**REQUIRED, **given})
    assert str(refusal.value).startswith(sentence)


@pytest.mark.parametrize("missing", ["url", "stream"])
def test_url_and_stream_are_needed(missing: str) -> None:
    given = {name: value for name, value in REQUIRED.items() if name != missing}
    for options in (read_options, write_options):
        with pytest.raises(BadOption, match=f"^{missing}: "):
            options(given)


def test_names_of_options_are_read_in_any_case_and_sparks_own_are_passed_over() -> None:
    assert read_options({**REQUIRED, "STARTINGOFFSETS": "5-3"}).starting.common == Bound("id", "5-2")
    assert write_options({**REQUIRED, "checkpointlocation": "/c", "chunkrows": "7"}).sink.chunk_rows == 7


def test_the_token_does_not_stand_in_the_options_text() -> None:
    assert "tlr_secret" not in repr(read_options({**REQUIRED, "token": "tlr_secret"}))
    assert "tlr_secret" not in repr(write_options({**REQUIRED, "token": "tlr_secret"}))
