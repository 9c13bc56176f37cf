"""Appends of one entry, batches and imports: the results, the refusals, and that no data is lost."""

from __future__ import annotations

import gzip
import json
from typing import Any

import msgspec
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from tailrace.api.problems.table import RequestRefused
from tailrace.api.schemas.appends import EntryToAppend, XaddBatchBody, XaddBody
from tailrace.api.wire.appends import RawBatch, RawEntry, RawXadd, decode_xadd, trimming_of
from tailrace.api.wire.bodies import parse_body
from tailrace.core.limits import BODY_BYTES_MAX
from tests.support.api_client import FIRST, JSON, KEY, NDJSON, THIRD, ApiClient, assert_problem

ENTRIES = f"{KEY}/entries"


@pytest.fixture
def api() -> ApiClient:
    return ApiClient.with_race()


def last_entry(api: ApiClient, query: str = "") -> Any:
    return api.get(f"{ENTRIES}?order=desc&count=1{query}").json()["entries"][0]


def test_an_append_answers_201_and_the_id(api: ApiClient) -> None:
    response = api.post(ENTRIES, {"fields": {"rider": "Castilla"}})
    assert (response.status_code, response.json()) == (201, {"id": "1692632147973-0"})


def test_field_order_is_kept(api: ApiClient) -> None:
    api.post(ENTRIES, {"fields": {"z": "1", "a": "2", "m": "3"}})
    assert list(last_entry(api)["fields"]) == ["z", "a", "m"]


def test_a_number_as_a_value_is_a_422_that_names_the_field(api: ApiClient) -> None:
    problem = assert_problem(api.post(ENTRIES, {"fields": {"speed": 30.2}}), 422, "BODY_MISMATCH")
    assert [error["pointer"] for error in problem["errors"]] == ["/fields/speed"]
    problem = assert_problem(api.post(ENTRIES, {"pairs": [["a", "1"], ["b", 2]]}), 422, "BODY_MISMATCH")
    assert [error["pointer"] for error in problem["errors"]] == ["/pairs/1/1"]


def test_a_name_that_repeats_in_fields_is_refused_and_taken_as_pairs(api: ApiClient) -> None:
    raw = b'{"fields":{"lap":"1","lap":"2"}}'
    problem = assert_problem(api.post(ENTRIES, content=raw, headers=JSON), 422, "BODY_MISMATCH")
    assert "'lap'" in problem["detail"]
    api.post(ENTRIES, {"pairs": [["lap", "1"], ["lap", "2"]]})
    assert last_entry(api)["pairs"] == [["lap", "1"], ["lap", "2"]]


def test_bytes_travel_as_base64(api: ApiClient) -> None:
    api.post(ENTRIES, {"fields": {"YQ==": "/w=="}, "encoding": "base64"})
    assert last_entry(api) == {
        "id": "1692632147973-0",
        "fields": {"YQ==": "/w=="},
        "encoding": "base64",
    }
    problem = assert_problem(
        api.post(ENTRIES, {"fields": {"a": "no base64!"}, "encoding": "base64"}), 422, "BODY_MISMATCH"
    )
    assert "not base64" in problem["detail"]


def test_text_that_came_as_base64_is_text(api: ApiClient) -> None:
    api.post(ENTRIES, {"pairs": [["YQ==", "Yg=="]], "encoding": "base64"})
    assert last_entry(api)["fields"] == {"a": "b"}
    assert last_entry(api, "&encoding=base64")["fields"] == {"YQ==": "Yg=="}
    assert last_entry(api, "&shape=pairs")["pairs"] == [["a", "b"]]
    assert last_entry(api, "&shape=pairs&encoding=base64")["pairs"] == [["YQ==", "Yg=="]]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"fields": {}},
        {"pairs": []},
        {"fields": None},
        {"fields": {"a": "b"}, "pairs": [["a", "b"]]},
        {"fields": {"a": "b"}, "unknown": 1},
        {"fields": {"a": "b"}, "encoding": "utf-16"},
        {"pairs": [["a"]]},
        {"fields": {"a": "b"}, "trim": {}},
        {"fields": {"a": "b"}, "trim": {"max_length": 1, "min_id": "1-0"}},
        {"fields": {"a": "b"}, "trim": {"max_length": 1, "limit": 5}},
        {"fields": {"a": "b"}, "id": 5},
        [],
        None,
    ],
)
def test_an_append_that_does_not_fit_is_a_422_and_appends_nothing(api: ApiClient, body: object) -> None:
    response = api.post(ENTRIES, content=json.dumps(body).encode(), headers=JSON)
    assert assert_problem(response, 422, "BODY_MISMATCH")["errors"]
    assert api.get(f"{KEY}/length").json() == {"length": 3}


@pytest.mark.parametrize(
    ("given_id", "answered"),
    [("*", "1692632147973-0"), ("1692632102976-*", "1692632102976-1"), ("1700000000000", "1700000000000-0")],
)
def test_an_id_may_be_chosen_in_part_or_in_whole(api: ApiClient, given_id: str, answered: str) -> None:
    assert api.post(ENTRIES, {"fields": {"a": "b"}, "id": given_id}).json() == {"id": answered}


@pytest.mark.parametrize("given_id", ["", "x", "1-2-3", "-", "+", "1-", "18446744073709551616-*", "٣"])
def test_a_malformed_id_is_a_400(api: ApiClient, given_id: str) -> None:
    body = {"fields": {"a": "b"}, "id": given_id}
    assert assert_problem(api.post(ENTRIES, body), 400, "INVALID_ID")["given"] == given_id.removesuffix("-*")


def test_an_id_that_is_not_greater_is_a_409_with_the_last_id(api: ApiClient) -> None:
    problem = assert_problem(api.post(ENTRIES, {"fields": {"a": "b"}, "id": FIRST}), 409, "ID_NOT_GREATER")
    assert problem["last_id"] == THIRD


def test_nomkstream_on_a_missing_stream_is_a_404(api: ApiClient) -> None:
    body = {"fields": {"a": "b"}, "nomkstream": True}
    assert_problem(api.post("/v1/streams/new/entries", body), 404, "NO_SUCH_STREAM")
    assert api.post(ENTRIES, body).status_code == 201


def test_an_append_trims_in_the_same_step(api: ApiClient) -> None:
    api.post(ENTRIES, {"fields": {"a": "b"}, "trim": {"max_length": 2}})
    assert api.get(f"{KEY}/length").json() == {"length": 2}


def test_if_last_id_appends_only_where_it_matches(api: ApiClient) -> None:
    refused = api.post(ENTRIES, {"fields": {"a": "b"}, "if_last_id": FIRST})
    assert assert_problem(refused, 412, "PRECONDITION_FAILED")["last_id"] == THIRD
    assert api.post(ENTRIES, {"fields": {"a": "b"}, "if_last_id": THIRD}).status_code == 201


def test_an_entry_above_the_limit_is_a_413(api: ApiClient) -> None:
    response = api.post(ENTRIES, {"fields": {"a": "x" * (17 << 20)}})
    assert_problem(response, 413, "ENTRY_TOO_LARGE")
    many = {"fields": {str(number): "" for number in range(65_537)}}
    assert_problem(api.post(ENTRIES, many), 413, "ENTRY_TOO_LARGE")


# --- batches ---------------------------------------------------------------------------------------


def test_a_batch_answers_the_first_and_the_last_id_and_all_if_asked(api: ApiClient) -> None:
    body = {"entries": [{"fields": {"a": "1"}}, {"pairs": [["a", "2"]]}]}
    assert api.post(f"{ENTRIES}:batch", body).json() == {
        "count": 2,
        "first_id": "1692632147973-0",
        "last_id": "1692632147973-1",
    }
    answer = api.post(f"{ENTRIES}:batch?ids=true", body)
    assert (answer.status_code, answer.json()["ids"]) == (201, ["1692632147973-2", "1692632147973-3"])


def test_a_batch_is_all_or_nothing(api: ApiClient) -> None:
    body = {"entries": [{"fields": {"a": "1"}, "id": "1700000000000-5"}, {"fields": {"a": "2"}, "id": "1-1"}]}
    assert_problem(api.post(f"{ENTRIES}:batch", body), 409, "ID_NOT_GREATER")
    body = {"entries": [{"fields": {"a": "1"}}, {"fields": {"a": 2}}]}
    problem = assert_problem(api.post(f"{ENTRIES}:batch", body), 422, "BODY_MISMATCH")
    assert problem["errors"][0]["pointer"] == "/entries/1/fields/a"
    assert_problem(api.post(f"{ENTRIES}:batch", {"entries": []}), 422, "BODY_MISMATCH")
    assert api.get(f"{KEY}/length").json() == {"length": 3}


def test_a_batch_takes_trimming_and_a_precondition(api: ApiClient) -> None:
    body = {"entries": [{"fields": {"a": "1"}}], "trim": {"max_length": 1}, "if_last_id": THIRD}
    assert api.post(f"{ENTRIES}:batch", body).status_code == 201
    assert api.get(f"{KEY}/length").json() == {"length": 1}
    assert_problem(api.post(f"{ENTRIES}:batch", body), 412, "PRECONDITION_FAILED")
    body["trim"] = {"max_length": -1}
    problem = assert_problem(api.post(f"{ENTRIES}:batch", body), 422, "BODY_MISMATCH")
    assert problem["errors"][0]["pointer"] == "/trim/max_length"


def test_too_many_entries_at_once_are_a_413(api: ApiClient) -> None:
    lines = b'{"a":"b"}\n' * 100_001
    assert_problem(api.post(f"{ENTRIES}:import", content=lines, headers=NDJSON), 413, "LIMIT_EXCEEDED")


# --- imports ---------------------------------------------------------------------------------------

LINES = b'{"a":"1"}\n\n{"a":"2", "b":"3"}\r\n'


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (LINES, None),
        (LINES, "identity"),
        (gzip.compress(LINES, mtime=0), "gzip"),
        (gzip.compress(LINES[:10], mtime=0) + gzip.compress(LINES[10:], mtime=0), "GZIP"),
        (zstandard.compress(LINES), "zstd"),
    ],
)
def test_an_import_takes_one_object_of_fields_a_line(
    api: ApiClient, body: bytes, encoding: str | None
) -> None:
    headers = NDJSON if encoding is None else {**NDJSON, "Content-Encoding": encoding}
    response = api.post(f"{ENTRIES}:import", content=body, headers=headers)
    assert (response.status_code, response.json()["count"]) == (201, 2)
    assert last_entry(api)["fields"] == {"a": "2", "b": "3"}


def test_an_import_with_whole_entries_takes_ids_pairs_and_base64(api: ApiClient) -> None:
    lines = (
        b'{"id":"1700000000000-0","fields":{"a":"1"}}\n'
        b'{"pairs":[["a","1"],["a","2"]]}\n'
        b'{"fields":{"YQ==":"/w=="},"encoding":"base64"}'
    )
    answer = api.post(f"{ENTRIES}:import?shape=entry", content=lines, headers=NDJSON).json()
    assert answer == {"count": 3, "first_id": "1700000000000-0", "last_id": "1700000000000-2"}


@pytest.mark.parametrize(
    ("body", "shape", "line"),
    [
        (b'{"a":"1"}\n{"a":2}', "fields", 2),
        (b'{"a":"1"}\n\n{}', "fields", None),
        (b'{"a":"1"}\n{"a":"1","a":"2"}', "fields", None),
        (b'{"fields":{"a":"1"}}\n{"fields":{"a":2}}', "entry", 2),
        (b'{"fields":{"a":"1"}}\n{"fields":{"a":"1","a":"2"}}', "entry", 2),
        (b'{"fields":{"a":"1"}}\n{}', "entry", 2),
        (b"\n\n", "fields", None),
        (b"", "entry", None),
    ],
)
def test_a_line_that_does_not_fit_is_a_422_and_imports_nothing(
    api: ApiClient, body: bytes, shape: str, line: int | None
) -> None:
    response = api.post(f"{ENTRIES}:import?shape={shape}", content=body, headers=NDJSON)
    problem = assert_problem(response, 422, "BODY_MISMATCH")
    assert problem["errors"][0].get("line") == line
    assert api.get(f"{KEY}/length").json() == {"length": 3}


@pytest.mark.parametrize("shape", ["fields", "entry"])
@pytest.mark.parametrize("body", [b'{"a":"1"', b"\xff", b"[" * 100_000])
def test_a_line_that_is_no_json_is_refused(api: ApiClient, body: bytes, shape: str) -> None:
    response = api.post(f"{ENTRIES}:import?shape={shape}", content=body, headers=NDJSON)
    assert response.status_code in {400, 422}, response.text


@pytest.mark.parametrize("shape", ["fields", "entry"])
def test_a_line_that_is_too_large_is_a_413(api: ApiClient, shape: str) -> None:
    fields: object = {"a": "x" * (17 << 20)}
    line = json.dumps(fields if shape == "fields" else {"fields": fields}).encode()
    response = api.post(f"{ENTRIES}:import?shape={shape}", content=line, headers=NDJSON)
    assert_problem(response, 413, "ENTRY_TOO_LARGE")


def test_what_decompresses_without_bound_is_a_413(api: ApiClient) -> None:
    bomb = b" " * (BODY_BYTES_MAX + 1)
    for encoding, body in (("gzip", gzip.compress(bomb, 1)), ("zstd", zstandard.compress(bomb))):
        headers = {**NDJSON, "Content-Encoding": encoding}
        response = api.post(f"{ENTRIES}:import", content=body, headers=headers)
        assert_problem(response, 413, "BODY_TOO_LARGE")


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
@pytest.mark.parametrize("body", [b"not compressed", gzip.compress(LINES, mtime=0)[:-4]])
def test_what_does_not_decompress_is_a_400(api: ApiClient, encoding: str, body: bytes) -> None:
    headers = {**NDJSON, "Content-Encoding": encoding}
    assert_problem(api.post(f"{ENTRIES}:import", content=body, headers=headers), 400, "MALFORMED_BODY")


def test_an_encoding_or_type_that_is_not_known_is_a_415(api: ApiClient) -> None:
    response = api.post(f"{ENTRIES}:import", content=LINES, headers={**NDJSON, "Content-Encoding": "br"})
    assert_problem(response, 415, "UNSUPPORTED_MEDIA_TYPE")
    assert response.headers["accept-encoding"] == "gzip, zstd"
    assert_problem(api.post(f"{ENTRIES}:import", content=LINES, headers=JSON), 415, "UNSUPPORTED_MEDIA_TYPE")


# --- idempotency -----------------------------------------------------------------------------------

PRODUCER = {"Idempotency-Key": "k1", "Producer-Id": "p"}


def test_the_same_key_again_answers_200_and_the_first_id(api: ApiClient) -> None:
    first = api.post(ENTRIES, {"fields": {"a": "1"}}, headers=PRODUCER)
    again = api.post(ENTRIES, {"fields": {"a": "1"}}, headers=PRODUCER)
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == first.json()
    assert (first.headers.get("idempotent-replayed"), again.headers["idempotent-replayed"]) == (None, "true")
    assert api.get(f"{KEY}/length").json() == {"length": 4}


def test_another_body_under_the_same_key_is_a_422(api: ApiClient) -> None:
    api.post(ENTRIES, {"fields": {"a": "1"}}, headers=PRODUCER)
    response = api.post(ENTRIES, {"fields": {"a": "2"}}, headers=PRODUCER)
    assert_problem(response, 422, "IDEMPOTENCY_MISMATCH")


def test_batches_and_imports_are_replayed_whole(api: ApiClient) -> None:
    body = {"entries": [{"fields": {"a": "1"}}, {"fields": {"a": "2"}}]}
    first = api.post(f"{ENTRIES}:batch?ids=true", body, headers=PRODUCER)
    again = api.post(f"{ENTRIES}:batch?ids=true", body, headers=PRODUCER)
    assert (again.status_code, again.json()) == (200, first.json())
    headers = {**NDJSON, **PRODUCER, "Idempotency-Key": "k2"}
    first = api.post(f"{ENTRIES}:import", content=LINES, headers=headers)
    again = api.post(f"{ENTRIES}:import", content=LINES, headers=headers)
    assert (again.status_code, again.json()) == (200, first.json())


def test_an_older_epoch_and_another_layout_are_409s(api: ApiClient) -> None:
    def send(key: str, epoch: int, layout: str) -> Any:
        headers = {
            **PRODUCER,
            "Idempotency-Key": key,
            "Producer-Epoch": str(epoch),
            "Producer-Layout": layout,
        }
        return api.post(ENTRIES, {"fields": {"a": "1"}}, headers=headers)

    assert send("a", 5, "4 parts").status_code == 201
    assert_problem(send("b", 5, "8 parts"), 409, "LAYOUT_CHANGED")
    assert send("b", 6, "8 parts").status_code == 201
    assert_problem(send("c", 4, "4 parts"), 409, "STALE_EPOCH")


@pytest.mark.parametrize(
    "headers",
    [
        {"Idempotency-Key": "k"},
        {"Producer-Id": "p"},
        {"Producer-Epoch": "1"},
        {"Producer-Layout": "x"},
        {**PRODUCER, "Producer-Epoch": "one"},
        {**PRODUCER, "Producer-Epoch": "-1"},
    ],
)
def test_incomplete_or_bad_producer_headers_are_a_400(api: ApiClient, headers: dict[str, str]) -> None:
    response = api.post(ENTRIES, {"fields": {"a": "1"}}, headers=headers)
    assert_problem(response, 400, "INVALID_PARAMETER")


def test_an_empty_key_is_a_400_and_so_is_a_key_with_an_explicit_id(api: ApiClient) -> None:
    response = api.post(ENTRIES, {"fields": {"a": "1"}}, headers={**PRODUCER, "Idempotency-Key": ""})
    assert_problem(response, 400, "INVALID_NAME")
    response = api.post(ENTRIES, {"fields": {"a": "1"}, "id": "1700000000000-0"}, headers=PRODUCER)
    assert_problem(response, 400, "INVALID_ARGUMENT")


def test_a_key_with_an_epoch_replays_explicit_ids_and_adds_nothing(api: ApiClient) -> None:
    headers = {**NDJSON, **PRODUCER, "Producer-Epoch": "1"}
    lines = b'{"id":"1800000000000-5","fields":{"a":"1"}}\n{"id":"1800000000007-0","fields":{"a":"2"}}\n'
    first = api.post(f"{ENTRIES}:import?shape=entry", content=lines, headers=headers)
    again = api.post(f"{ENTRIES}:import?shape=entry", content=lines, headers=headers)
    assert (first.status_code, again.status_code, again.json()) == (201, 200, first.json())
    assert first.json() == {"count": 2, "first_id": "1800000000000-5", "last_id": "1800000000007-0"}
    other = api.post(
        f"{ENTRIES}:import?shape=entry", content=lines, headers={**headers, "Idempotency-Key": "k2"}
    )
    assert_problem(other, 409, "ID_NOT_GREATER")


# --- the decoder and the documented model agree ----------------------------------------------------

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
VALUES = st.one_of(TEXTS, st.integers(-2, 2), st.none(), st.booleans())
CONTENT = st.one_of(
    st.dictionaries(TEXTS, VALUES, max_size=3), st.lists(st.lists(VALUES, max_size=3), max_size=3)
)
BODIES = st.fixed_dictionaries(
    {},
    optional={
        "fields": CONTENT,
        "pairs": CONTENT,
        "encoding": st.sampled_from(["base64", "hex", None]),
        "id": st.sampled_from(["*", "1-1", 3, None]),
        "trim": st.sampled_from([{"max_length": 1}, {"min_id": "1-0"}, {"max_length": True}, {}, None, "x"]),
        "nomkstream": st.sampled_from([True, False, 1, None]),
        "if_last_id": st.sampled_from(["1-1", 3, None]),
        "more": st.just(1),
    },
)


def is_accepted(body: bytes) -> bool:
    """A difference that depends on the content alone does not count: here, whether a text is base64."""
    try:
        raw, _ = decode_xadd(body)
        trimming_of(raw.trim)
    except RequestRefused as refusal:
        return "not base64" in refusal.detail
    return True


def is_documented(body: bytes) -> bool:
    try:
        parse_body(body, XaddBody)
    except RequestRefused:
        return False
    return True


@settings(max_examples=300, deadline=None)
@given(BODIES)
def test_the_fast_decoder_accepts_what_the_documented_model_accepts(body: dict[str, Any]) -> None:
    raw = json.dumps(body).encode()
    assert is_accepted(raw) is is_documented(raw)


@pytest.mark.parametrize(
    ("fast", "model"), [(RawEntry, EntryToAppend), (RawXadd, XaddBody), (RawBatch, XaddBatchBody)]
)
def test_the_fast_decoder_has_the_members_of_the_documented_model(
    fast: type[msgspec.Struct], model: type[EntryToAppend]
) -> None:
    assert set(fast.__struct_fields__) == set(model.model_fields)
