"""Random requests from the OpenAPI document: no response is a 500, and the document describes every response.

The engine is the real one, in process. A run takes a third of the operations, others every day. Another
seed: `TESTS_FUZZ_SEED=n`; all operations, each with so many requests: `TESTS_FUZZ_EXAMPLES=n`.
"""

from __future__ import annotations

import os
from typing import Any, Final

import pytest
import schemathesis
from hypothesis import HealthCheck, seed, settings
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from tests.support.api_client import ApiClient, the_document
from tests.support.seeds import is_due

SEED: Final = int(os.environ.get("TESTS_FUZZ_SEED", "17"))
EXAMPLES: Final = int(os.environ.get("TESTS_FUZZ_EXAMPLES", "15"))
SHARE: Final = 1 if "TESTS_FUZZ_EXAMPLES" in os.environ else 3


def code_conformance(_context: object, response: Any, case: schemathesis.Case[Any]) -> None:
    """A problem's code is one that the document names for the operation under that status."""
    if response.headers.get("content-type") != ["application/problem+json"] or not response.content:
        return
    operation = the_document().operations[case.operation.definition.raw["operationId"]]
    code = response.json()["code"]
    assert response.status_code == 405 or code in operation.codes(response.status_code), code


CHECKS: Final = [
    code_conformance,
    schemathesis.checks.not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
    unsupported_method,
]


@schemathesis.serializer("application/x-ndjson")
def as_lines(_context: object, value: object) -> bytes:
    """A random NDJSON body is already text; no other type fits its schema."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


def _is_endless(context: Any) -> bool:
    """An answer of events has no end; its requests are tested with its own client."""
    return "text/event-stream" in str(context.operation.definition.raw["responses"])


def is_left_to_another_day(context: Any) -> bool:
    """Schemathesis plans the requests of each operation when it collects, in every process of a run."""
    return not is_due(OPERATIONS.index(context.operation.definition.raw["operationId"]), SHARE)


OPERATIONS: Final = list(the_document().operations)

REFUSALS: Final = ["400", "404", "406", "409", "413", "415", "422"]
"""The statuses for a request that does not match its schema; 413 if it is too large."""

schema = (
    schemathesis.openapi.from_asgi(
        "/openapi.json",
        ApiClient.with_race().app,
        config=schemathesis.Config.from_dict(
            {"checks": {"negative_data_rejection": {"expected-statuses": REFUSALS}}}
        ),
    )
    .exclude(func=_is_endless)
    .exclude(operation_id=["tail", "tail_streams"])
    .exclude(func=is_left_to_another_day)
)
"""Without the tails: they end only with their client, and have tests of their own."""


@pytest.fixture(scope="module", autouse=True)
def shown_seed() -> None:
    print(f"fuzz seed {SEED}, {EXAMPLES} requests an operation")  # noqa: T201 - shown where a request fails


@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    derandomize=False,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@seed(SEED)
def test_every_answer_is_foreseen_by_the_document(case: schemathesis.Case[Any]) -> None:
    case.call_and_validate(checks=CHECKS)
