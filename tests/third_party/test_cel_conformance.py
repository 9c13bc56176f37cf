"""The conformance suite of CEL, from npm, judges the filters.

A filter is refused, or it does what the suite demands of all of CEL. Most cases need parts of CEL that
filters lack: a refusal is right for those. The number of the others is asserted, so that none gets lost.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator
from typing import Any, Final

from tailrace.core.errors import StreamError
from tailrace.core.filters import compile_filter
from tailrace.core.log.entry import fragment_from_flat
from tests.support.third_party import exports_of

DATA: Final = "@bufbuild/cel-spec/dist/esm/testdata"

QUOTED_OR_NAME: Final = re.compile(
    r"""[rRbB]{0,2}("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|([A-Za-z_]\w*)(?=\W|$)"""
)

OUTCOMES: Final = {True: (True, False), False: (False, True), None: (False, False)}
"""Whether a condition and its negation match, for each result. An error is no result."""


def cases_in(suite: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for inner in suite.get("suites", ()):
        yield from cases_in(inner)
    yield from suite.get("tests", ())


def as_field(value: dict[str, Any]) -> tuple[str, bytes] | None:
    """Return how a filter reads a value of CEL from a field, and the field; None if no field can hold it."""
    [(kind, content)] = value.items()
    if kind == "stringValue":
        return "{}", content.encode()
    if kind == "bytesValue":
        return "{}", b64decode(content)
    if kind in ("int64Value", "doubleValue"):
        return ("int({})" if kind == "int64Value" else "double({})"), str(content).encode()
    return None


def prepared(case: dict[str, Any]) -> tuple[str, list[bytes], bool | None]:
    """Return the filter of a case, the fields of an entry, and the result of the filter.

    The variables of the case become fields. A value that is not a condition is compared with a field.
    """
    names: dict[str, str] = {}
    entry = [b"", b""]
    for name, bound in case.get("bindings", {}).items():
        members = bound["value"].get("mapValue", {}).get("entries")
        if members is not None:
            names[name] = "fields"
            pairs = [(each["key"].get("stringValue", ""), each["value"]) for each in members]
        else:
            pairs = [(name, bound["value"])]
        for key, value in pairs:
            if (field := as_field(value)) is not None:
                names.setdefault(name, field[0].format(f'fields["{key}"]'))
                entry += [key.encode(), field[1]]
    text = QUOTED_OR_NAME.sub(lambda found: names.get(found[0], found[0]), case["expr"])
    value = case.get("value", {"boolValue": True})
    if "evalError" in case:
        return text, entry, None
    if "boolValue" in value:
        return text, entry, value["boolValue"]
    read, content = as_field(value) or ("{}", b"")
    return f"({text}) == {read.format('fields.result')}", [*entry, b"result", content], True


def outcome(text: str, entry: list[bytes]) -> tuple[bool, ...] | None:
    """Return whether a filter and its negation match; None for a filter that is refused."""
    try:
        filters = compile_filter(text), compile_filter(f"!({text})")
    except StreamError:
        return None
    return tuple(each.flags([fragment_from_flat(entry)])[0] for each in filters)


def test_a_filter_means_what_it_means_in_cel_or_is_refused() -> None:
    judged, wrong = 0, []
    for case in cases_in(exports_of(f"{DATA}/conformance.js")["tests"]):
        text, entry, expected = prepared(case["original"])
        found = outcome(text, entry)
        judged += found is not None
        if found not in (None, OUTCOMES[expected]):
            wrong.append((case["original"]["name"], text, entry, expected, found))
    assert wrong == []
    assert judged == 237


def test_what_the_parser_and_the_checker_of_cel_refuse_is_no_filter() -> None:
    texts = [
        case["original"]["expr"]
        for suite in ("parsing", "checking", "comprehension")
        for case in cases_in(exports_of(f"{DATA}/{suite}.js")["tests"])
        if "error" in case
    ]
    assert len(texts) > 100
    assert [text for text in texts if outcome(text, [b"", b""]) is not None] == []
