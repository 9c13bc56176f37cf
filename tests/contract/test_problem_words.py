"""The texts of problems: sentences for REST over REST, the lines of Redis for Redis commands, and hints. A
request makes each mistake of the table; `test_documents_problems.py` provokes each documented problem.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

import pytest

from tailrace.api.problems.refusal_texts import COMMAND_CODES, VERBS, rest_text
from tailrace.api.problems.table import CommandRefused, problem_of
from tailrace.api.routes import ROUTERS
from tailrace.core import errors
from tailrace.core.errors import ErrorCode, StreamError
from tests.support.api_client import FIRST, GROUP, JSON, KEY, NDJSON, THIRD, ApiClient, the_document
from tests.support.rest_words import COMMAND_OPERATIONS, assert_speaks_rest


def test_errors_of_a_whole_server_speak_rest() -> None:
    for error in (errors.out_of_memory(), errors.too_many_readers(10)):
        assert_speaks_rest(problem_of(error, None))
        assert problem_of(CommandRefused(error), None)["error"] == error.line


def test_a_command_in_redis_words_keeps_the_line_of_redis() -> None:
    error = errors.no_group(b"s", b"g")
    problem = problem_of(CommandRefused(error), None)
    assert problem["error"] == "NOGROUP No such consumer group 'g' for key name 's'"
    assert problem["detail"] == "No such consumer group 'g' for key name 's'"
    assert (problem["key"], problem["group"]) == ("s", "g")


@pytest.mark.parametrize("code", sorted(COMMAND_CODES))
def test_a_code_that_only_commands_have_keeps_its_line(code: ErrorCode) -> None:
    documented = {name for name, each in the_document().operations.items() if code in each.all_codes}
    assert documented <= COMMAND_OPERATIONS
    assert rest_text(StreamError(code, "ERR syntax error")) == "syntax error"


def test_the_hint_for_actions_knows_all_of_them() -> None:
    paths = [route.path for router in ROUTERS for route in router.routes]  # type: ignore[attr-defined]
    verbs = {path.rpartition("}:")[2].encode() for path in paths if re.search(r"\}:\w+$", path)}
    assert verbs == VERBS


# --- mistakes --------------------------------------------------------------------------------------


class Mistake(NamedTuple):
    """A request, and what its answer says."""

    method: str
    path: str
    body: Any
    status: int
    told: str
    headers: dict[str, str] = JSON


ENTRIES = f"{KEY}/entries"
READ_GROUP = {"group": "judges", "consumer": "bob"}
FIELDS = {"fields": {"rider": "Wood"}}

PATHS = [
    Mistake("GET", "/v1/stream/x", None, 404, "did you mean `/v1/streams/x`?"),
    Mistake("GET", "/streams", None, 404, "did you mean `/v1/streams`?"),
    Mistake("GET", "/v1/streams/", None, 404, "`/v1/streams`, without the final slash?"),
    Mistake("GET", "/v1//streams", None, 404, "did you mean `/v1/streams`?"),
    Mistake("GET", "/v1/streams//entries", None, 404, "`key` is empty: a name has 1 to 512 bytes"),
    Mistake("GET", f"{KEY}/groups/a/b", None, 404, "write a slash in a name as `%2F`"),
    Mistake("POST", f"{KEY}/entry", FIELDS, 404, f"did you mean `{KEY}/entries`?"),
    Mistake("POST", f"{ENTRIES}:imprt", FIELDS, 404, f"did you mean `{ENTRIES}:import`?"),
    Mistake("GET", "/favicon.ico/of/something/else", None, 404, "GET /openapi.json lists all resources"),
    Mistake("POST", KEY, FIELDS, 405, f"to append an entry, POST to `{KEY}/entries`"),
    Mistake("POST", GROUP, {}, 405, "POST takes an action after the name: `:ack`, "),
    Mistake("POST", f"{GROUP}:acknowledge", {}, 405, "did you mean `:ack`?"),
    Mistake("POST", f"{GROUP}:akc", {}, 405, "did you mean `:ack`?"),
    Mistake("PATCH", KEY, None, 405, "this resource supports DELETE, GET, HEAD, PUT"),
    Mistake("GET", f"{ENTRIES}:trim", None, 405, "this resource supports POST"),
    Mistake("GET", f"{GROUP}:ack", None, 404, "`:ack` is an action: send it with POST"),
    Mistake("GET", f"{KEY}:configure", None, 404, "`:configure` is an action: send it with POST"),
    Mistake("GET", "/v1/streams/%zz", None, 400, "'%zz' is not percent-encoding"),
    Mistake(
        "GET", f"/v1/streams/{'x' * 513}", None, 400, "key: the name has 513 bytes; a name has 1 to 512 bytes"
    ),
    Mistake(
        "GET",
        f"{GROUP}/pending?consumer=",
        None,
        400,
        "consumer: the name is empty; a name has 1 to 512 bytes",
    ),
]

PARAMETERS = [
    Mistake(
        "GET",
        f"{ENTRIES}?wait_ms=5s&after=$",
        None,
        400,
        "an integer from 0 to 60000 (milliseconds), not '5s'",
    ),
    Mistake(
        "GET", f"{ENTRIES}?count=-1", None, 400, "`count`: must be an integer from 1 to 100000, not '-1'"
    ),
    Mistake("GET", f"{ENTRIES}?cuont=5", None, 400, "`cuont`: unknown parameter; did you mean `count`?"),
    Mistake("GET", f"{ENTRIES}?limit=5", None, 400, "`limit`: unknown parameter; did you mean `count`?"),
    Mistake("GET", f"{ENTRIES}?zzz=5", None, 400, "`zzz`: unknown parameter; allowed: `start`, `end`, "),
    Mistake("GET", f"{KEY}/length?zzz=5", None, 400, "`zzz`: unknown parameter; none is allowed"),
    Mistake("GET", f"{ENTRIES}?order=descending", None, 400, "must be `asc` or `desc`, not 'descending'"),
    Mistake("GET", f"{ENTRIES}?strict=maybe", None, 400, "`strict`: must be true or false, not 'maybe'"),
    Mistake(
        "GET", f"{ENTRIES}?start=yesterday", None, 400, "an id such as 1526919030474-0, milliseconds alone"
    ),
    Mistake("GET", f"{ENTRIES}?end=(0-0", None, 400, "`end` excludes the last id that could match"),
    Mistake("GET", f"{ENTRIES}?wait_ms=5", None, 400, "`wait_ms` needs `after`"),
    Mistake("GET", f"{ENTRIES}?after=$&start=1&end=2", None, 400, "`after` excludes `start` or `end`"),
    Mistake("GET", f"{ENTRIES}/abc", None, 400, "`id` is 'abc', which is not an entry id"),
    Mistake("GET", f"{ENTRIES}:split", None, 400, "`parts`: a required parameter is missing"),
    Mistake("GET", "/v1/tail", None, 400, "`stream`: a required parameter is missing"),
    Mistake("GET", f"{ENTRIES}:tail?group=judges", None, 400, "`consumer` is missing"),
    Mistake("GET", f"{ENTRIES}:tail?consumer=bob", None, 400, "`group` is missing"),
    Mistake(
        "GET", ENTRIES, None, 406, "`Accept: text/html` excludes application/json", {"Accept": "text/html"}
    ),
]

HEADERS = [
    Mistake("POST", ENTRIES, FIELDS, 400, "Producer-Id is missing", {**JSON, "Idempotency-Key": "k"}),
    Mistake("POST", ENTRIES, FIELDS, 400, "Idempotency-Key is missing", {**JSON, "Producer-Id": "p"}),
    Mistake(
        "POST",
        ENTRIES,
        FIELDS,
        400,
        "Idempotency-Key and Producer-Id are missing",
        {**JSON, "Producer-Epoch": "1"},
    ),
    Mistake(
        "POST",
        ENTRIES,
        FIELDS,
        400,
        "Producer-Epoch must be an integer from 0 to 9223372036854775807, not 'x'",
        {**JSON, "Producer-Id": "p", "Idempotency-Key": "k", "Producer-Epoch": "x"},
    ),
    Mistake("POST", ENTRIES, FIELDS, 415, "send application/json with the header `Content-Type: ", {}),
    Mistake("POST", f"{ENTRIES}:import", b'{"a":"b"}', 415, "send application/x-ndjson with the header"),
]

BODIES = [
    Mistake("POST", ENTRIES, b"", 400, "the body is empty"),
    Mistake(
        "POST", ENTRIES, b'{"fields":{"a":"b",}}', 400, "at line 1, column 20: a comma has no value after it"
    ),
    Mistake(
        "POST",
        ENTRIES,
        b"{'fields':{}}",
        400,
        "line 1, column 2: a member name must be a string in double quotes",
    ),
    Mistake("POST", ENTRIES, b'"fields":{"a":"b"}', 400, "there is more text after the JSON value"),
    Mistake("POST", ENTRIES, b'{"fields":{"a":"b"}', 400, "the text ends too early"),
    Mistake(
        "POST", ENTRIES, b'{"fields":{"a":"b"}}\n{}', 400, "to send several entries, use `entries:batch`"
    ),
    Mistake("POST", ENTRIES, b'{"fields":{"a":"\xff"}}', 400, "send bytes as base64"),
    Mistake("POST", ENTRIES, b'{"fields":{"a":no}}', 400, "a value is misspelled"),
    Mistake(
        "POST", ENTRIES, b'\xef\xbb\xbf{"fields":{"a":"b"}}', 400, "column 1: the text begins with a UTF-8"
    ),
    Mistake(
        "POST", "/v1/command", b'\xef\xbb\xbf["PING"]', 400, "a UTF-8 byte order mark (the bytes EF BB BF)"
    ),
    Mistake("POST", ENTRIES, '{"fields":{"a":"b"}}'.encode("utf-16"), 400, "the text is UTF-16 or UTF-32"),
    Mistake("POST", "/v1/command", '["PING"]'.encode("utf-16-le"), 400, "the text is UTF-16 or UTF-32"),
    Mistake("POST", "/v1/command", b'["PING",\nNaN]', 400, "at line 2, column 1: JSON has no NaN"),
    Mistake("POST", ENTRIES, b'{"fields":{"a":-Infinity}}', 400, "JSON has no Infinity"),
    Mistake("POST", f"{ENTRIES}:trim", b'{"max_length":NaN}', 400, "JSON has no NaN"),
    Mistake("POST", ENTRIES, b"[Infinity]", 400, "JSON has no Infinity"),
    Mistake("POST", ENTRIES, b'{"fields":{"a":"\\ud800"}}', 400, "is half of a pair"),
    Mistake("POST", ENTRIES, b"[" * 500 + b"]" * 500, 400, "nested too deeply"),
    Mistake(
        "POST", f"{GROUP}:configure", {"backoff": {"initial_ms": 1, "factor": 0.5}}, 422, "a number from 1"
    ),
    Mistake(
        "POST", f"{GROUP}:configure", {"backoff": {"initial_ms": 1, "factor": "x"}}, 422, "a number from 1"
    ),
    Mistake("POST", ENTRIES, b'{"fields":{"a":30.}}', 400, "the body is not valid JSON at line 1, column "),
    Mistake("POST", ENTRIES, {"rider": "x"}, 422, "/rider: unknown member; allowed: `fields`, `pairs`"),
    Mistake("POST", ENTRIES, {**FIELDS, "nomkstrem": True}, 422, "did you mean `nomkstream`?"),
    Mistake(
        "POST", ENTRIES, {"fields": {"speed": 30.2}}, 422, 'not the number 30.2; write it in quotes: "30.2"'
    ),
    Mistake("POST", ENTRIES, {"fields": {"on": True}}, 422, 'not true; write it in quotes: "true"'),
    Mistake("POST", ENTRIES, {"fields": {"a": None}}, 422, "/fields/a: must be a string, not null"),
    Mistake("POST", ENTRIES, {"fields": {"str": [1]}}, 422, "/fields/str: must be a string, not an array"),
    Mistake("POST", ENTRIES, {"fields": {}}, 422, "/fields: must have at least 1 member, not 0"),
    Mistake("POST", ENTRIES, {"pairs": [["a"]]}, 422, "/pairs/0: must have at least 2 items, not 1"),
    Mistake("POST", ENTRIES, {"pairs": ["a"]}, 422, "/pairs/0: must be an array, not 'a'"),
    Mistake(
        "POST",
        ENTRIES,
        {**FIELDS, "id": 5},
        422,
        '/id: must be a string, not the number 5; write it in quotes: "5"',
    ),
    Mistake(
        "POST", ENTRIES, {**FIELDS, "id": "x"}, 400, "`1526919030474-*` to let the server choose the sequence"
    ),
    Mistake(
        "POST", ENTRIES, {**FIELDS, "id": f"{1 << 64}-*"}, 400, "`id` is '18446744073709551616', which is not"
    ),
    Mistake(
        "POST",
        ENTRIES,
        {**FIELDS, "trim": {"max_length": -1}},
        422,
        "/trim/max_length: must be an integer of at least 0",
    ),
    Mistake("POST", ENTRIES, {**FIELDS, "encoding": "hex"}, 422, "/encoding: must be `base64`, not 'hex'"),
    Mistake("POST", ENTRIES, {**FIELDS, "id": "0-0"}, 409, "the least id is 0-1"),
    Mistake(
        "POST",
        ENTRIES,
        {**FIELDS, "id": FIRST},
        409,
        f"the id {FIRST} is not greater than the stream's last id {THIRD}",
    ),
    Mistake("POST", ENTRIES, {**FIELDS, "id": "1-*"}, 409, "the id 1-* is not greater than"),
    Mistake("POST", f"{ENTRIES}:batch", {"entries": [{"a": "b"}]}, 422, "/entries/0/a: unknown member"),
    Mistake("POST", f"{ENTRIES}:trim", {"maxlen": 5}, 422, "did you mean `max_length`?"),
    Mistake("POST", f"{ENTRIES}:trim", {"max_length": "5"}, 422, "must be an integer of at least 0, not '5'"),
    Mistake("POST", f"{ENTRIES}:trim", {}, 422, "give exactly one of `max_length` and `min_id`"),
    Mistake("POST", f"{KEY}:configure", {"idmp_maxsize": 0}, 422, "must be an integer from 1 to"),
    Mistake("POST", f"{KEY}:configure", {}, 400, "allowed: `idmp_duration_s`, `idmp_maxsize`"),
    Mistake(
        "POST",
        f"{KEY}:setid",
        {"last_id": "1-0"},
        400,
        f"`last_id` contradicts the stream's entries: it must be at least {THIRD}",
    ),
    Mistake(
        "POST", f"{KEY}:setid", {"last_id": THIRD, "entries_added": 1}, 400, "`entries_added` contradicts"
    ),
    Mistake(
        "POST",
        f"{KEY}:setid",
        {"last_id": "1-0", "max_deleted_id": "2-0"},
        400,
        "`last_id` is 1-0, which is smaller than",
    ),
    Mistake("POST", f"{GROUP}:ack", {"ids": "1-0"}, 422, "/ids: must be an array, not '1-0'"),
    Mistake("POST", f"{GROUP}:ack", {"ids": []}, 422, "/ids: must have at least 1 item, not 0"),
    Mistake("POST", f"{GROUP}:ack", ["1-0"], 422, "the body: must be an object, not an array"),
    Mistake(
        "POST",
        f"{GROUP}:nack",
        {"ids": ["1-0"], "mode": "fails"},
        422,
        "must be `silent`, `fail` or `fatal`, not 'fails'",
    ),
    Mistake("POST", f"{GROUP}:claim", {"ids": ["1-0"]}, 422, "/consumer: a required member is missing"),
    Mistake(
        "POST", "/v1/read", {"streams": [{"key": "a", "after": 5}]}, 422, "/streams/0/after: must be a string"
    ),
    Mistake("POST", "/v1/read", {"streams": []}, 422, "/streams: must have at least 1 item"),
    Mistake(
        "POST",
        "/v1/read-group",
        {**READ_GROUP, "stream": "a"},
        422,
        "/stream: unknown member; did you mean `streams`?",
    ),
    Mistake(
        "POST",
        "/v1/read-group",
        {**READ_GROUP, "streams": ["a"]},
        422,
        "/streams/0: must be an object, not 'a'",
    ),
    Mistake(
        "POST",
        "/v1/read-group",
        {**READ_GROUP, "streams": [{"key": "a"}], "block": 5},
        422,
        "did you mean `wait_ms`?",
    ),
    Mistake(
        "POST",
        "/v1/read-group",
        {**READ_GROUP, "streams": [{"key": "a", "id": "$"}]},
        400,
        "`>` for new entries",
    ),
    Mistake(
        "POST",
        "/v1/read-group",
        {**READ_GROUP, "streams": [{"key": "%", "encoding": "base64"}]},
        400,
        "key: '%' is not base64",
    ),
    Mistake(
        "PUT",
        f"{KEY}/groups/new",
        {"after": "now"},
        400,
        "`0` for all entries, or `$` for entries from now on",
    ),
    Mistake("PUT", "/v1/streams/spain/groups/g", None, 404, 'and the body {"create_stream": true}'),
    Mistake(
        "DELETE", f"{GROUP}/consumers/alice", None, 409, "with `transfer_to`, or drop them with `force=true`"
    ),
    Mistake("POST", "/v1/command", "PING", 422, "the body: must be an array, not 'PING'"),
    Mistake(
        "POST",
        "/v1/command",
        ["XLEN", None],
        422,
        "/1: must be a string, a number, a boolean or an object, not null",
    ),
    Mistake(
        "POST", "/v1/command", ["XLEN", {"base64": 1}], 422, "/1/base64: must be a string, not the number 1"
    ),
]

LINES = [
    Mistake(
        "POST", f"{ENTRIES}:import", b'[{"a":"b"}]', 422, "line 1: must be an object, not an array", NDJSON
    ),
    Mistake("POST", f"{ENTRIES}:import", b'{"a":"b"}\n{"a":1}', 422, "line 2: /a: must be a string", NDJSON),
    Mistake(
        "POST",
        f"{ENTRIES}:import",
        b'{"a":"b"}\n{"a":"1",}',
        400,
        "line 2 is not valid JSON at column 10: a comma",
        NDJSON,
    ),
    Mistake(
        "POST",
        f"{ENTRIES}:import",
        b'{"a":"b"}\n\xef\xbb\xbf{"a":"b"}',
        400,
        "line 2 is not valid JSON at column 1: the text begins with a UTF-8 byte order mark",
        NDJSON,
    ),
    Mistake(
        "POST",
        f"{ENTRIES}:import?shape=entry",
        b'\xef\xbb\xbf{"fields":{"a":"b"}}',
        400,
        "line 1 is not valid JSON at column 1: the text begins with a UTF-8 byte order mark",
        NDJSON,
    ),
    Mistake("POST", f"{ENTRIES}:import", b'{"fields":{"a":"b"}}', 422, "add `?shape=entry`", NDJSON),
    Mistake("POST", f"{ENTRIES}:import?shape=entry", b'{"a":"b"}', 422, "line 1: /a: unknown member", NDJSON),
    Mistake("POST", f"{ENTRIES}:import", b"", 422, "at least one entry is required", NDJSON),
]


@pytest.mark.parametrize(
    "mistake", [*PATHS, *PARAMETERS, *HEADERS, *BODIES, *LINES], ids=lambda each: each.told[:40]
)
def test_the_answer_to_a_mistake_says_what_to_do(mistake: Mistake) -> None:
    body = mistake.body if isinstance(mistake.body, bytes) else json.dumps(mistake.body).encode()
    content = {} if mistake.body is None else {"content": body}
    response = ApiClient.with_race().request(mistake.method, mistake.path, headers=mistake.headers, **content)
    assert response.status_code == mistake.status, response.text
    assert mistake.told in response.json()["detail"]
    assert_speaks_rest(response.json())


def test_a_body_that_is_no_json_names_the_line_and_the_column() -> None:
    response = ApiClient().request("POST", ENTRIES, content=b'{\n"fields": {,}}', headers=JSON)
    [error] = response.json()["errors"]
    assert (error["line"], error["column"]) == (2, 12)


def test_a_value_that_does_not_fit_is_shown_shortened() -> None:
    response = ApiClient().post(f"{ENTRIES}:trim", {"max_length": "9" * 1000})
    assert len(response.json()["detail"]) < 120
