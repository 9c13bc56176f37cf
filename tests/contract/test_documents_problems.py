"""Each operation can return every problem that the document lists for it, in the documented form.
`tests.support.api_client` checks in every test that an operation returns no other problem.

That none is missing, `tests.support.api_client` holds for each request of each test.
"""

from __future__ import annotations

import pytest

from tailrace.api.problems.examples import EXAMPLES as WORDED
from tailrace.api.problems.examples import REQUEST_ID, problem_examples
from tailrace.api.problems.table import KINDS
from tests.support.api_client import ApiClient, the_document
from tests.support.provocations import ELSEWHERE, WITHOUT_ENGINE, refused

DOCUMENT = the_document()
EXAMPLES = problem_examples(KINDS)

DOCUMENTED = [
    (name, code)
    for name, operation in DOCUMENT.operations.items()
    for code in sorted(operation.all_codes - ELSEWHERE)
    if not (name in WITHOUT_ENGINE and code == "INTERNAL")
]

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


@pytest.mark.parametrize(("name", "code"), DOCUMENTED)
def test_an_operation_answers_each_problem_that_it_documents(name: str, code: str) -> None:
    operation = DOCUMENT.operations[name]
    response = refused(ApiClient.with_race(), operation, code)
    assert code in operation.codes(response.status_code)
    if operation.method != "HEAD":
        assert response.json()["code"] == code


@pytest.mark.parametrize("code", sorted({code for _, code in DOCUMENTED}))
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
