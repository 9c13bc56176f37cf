"""Each operation can return every problem that the document lists for it, in the documented form.
`tests.support.api_client` checks in every test that an operation returns no other problem.

That none is missing, `tests.support.api_client` holds for each request of each test.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tailrace.api.problems.examples import EXAMPLES as WORDED
from tailrace.api.problems.examples import REQUEST_ID, problem_examples
from tailrace.api.problems.table import KINDS
from tests.support.api_client import ApiClient, the_document
from tests.support.documented import Operation
from tests.support.provocations import ELSEWHERE, WITHOUT_ENGINE, refused
from tests.support.rest_words import COMMAND_OPERATIONS, sentences, speaks_rest

DOCUMENT = the_document()
EXAMPLES = problem_examples(KINDS)

CODES = {
    name: sorted(operation.all_codes - ELSEWHERE - ({"INTERNAL"} if name in WITHOUT_ENGINE else set()))
    for name, operation in DOCUMENT.operations.items()
}
"""The codes that a request to each operation provokes."""

SHOWN_BY = {
    "BUSYGROUP": "xgroup_create",
    "CONSUMER_HAS_PENDING": "xgroup_delconsumer",
    "INVALID_FILTER": "xrange",
    "LIMIT_EXCEEDED": "xadd_batch",
    "NOGROUP": "xreadgroup",
    "NOT_AN_INTEGER": "command",
    "NOT_FOUND": "problem_page",
    "NO_SUCH_CONSUMER": "xgroup_delconsumer",
    "NO_SUCH_ENTRY": "get_entry",
    "POSITION_TRIMMED": "xrange",
    "SYNTAX": "command",
    "TRANSACTION_ABORTED": "transaction",
    "UNKNOWN_COMMAND": "command",
    "WRONG_ARITY": "command",
}
"""The operation whose answer a code's example is, where that is not `xadd`."""


def mistakes(operation: Operation, code: str) -> Iterator[str]:
    """Provoke a problem of an operation, and return what is wrong with the response."""
    response = refused(ApiClient.with_race(), operation, code)
    if code not in operation.codes(response.status_code):
        yield f"{code}: status {response.status_code}"
    if operation.method == "HEAD":
        return
    problem = response.json()
    if problem["code"] != code:
        yield f"{code}: {problem}"
    elif operation.name not in COMMAND_OPERATIONS:
        yield from (f"{code}: {sentence}" for sentence in sentences(problem) if not speaks_rest(sentence))


@pytest.mark.parametrize("name", CODES)
def test_an_operation_answers_each_problem_that_it_documents_in_words_of_rest(name: str) -> None:
    operation = DOCUMENT.operations[name]
    assert [mistake for code in CODES[name] for mistake in mistakes(operation, code)] == []


@pytest.mark.parametrize("code", sorted({code for codes in CODES.values() for code in codes}))
def test_the_example_of_a_problem_is_what_is_answered(code: str) -> None:
    operation = DOCUMENT.operations[SHOWN_BY.get(code, "xadd")]
    answered = refused(ApiClient.with_race(), operation, code).json()
    assert answered | {"request_id": REQUEST_ID} == EXAMPLES[code]["value"]


@pytest.mark.parametrize("code", sorted(EXAMPLES))
def test_the_example_of_a_problem_fits_the_model_of_problems(code: str) -> None:
    DOCUMENT.assert_fits(EXAMPLES[code]["value"], {"$ref": "#/components/schemas/Problem"})


def test_every_code_that_an_operation_names_has_an_example_of_its_own() -> None:
    named = {code for operation in DOCUMENT.operations.values() for code in operation.all_codes}
    assert named <= set(map(str, WORDED))
