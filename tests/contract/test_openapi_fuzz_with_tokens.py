"""Random requests from the OpenAPI document, and chains of requests, at a server that requires tokens.

Without a token the server executes no request, even if the request has other mistakes. With a token that has
all rights, the document describes every response, as it does without tokens. A chain uses names from earlier
responses (a stream, a group, a consumer). Seeds, counts and the operations of the day are those of
`test_openapi_fuzz`.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Final

import schemathesis
from hypothesis import HealthCheck, seed, settings
from schemathesis.specs.openapi.checks import negative_data_rejection

from tailrace.api.access.security import Security
from tailrace.api.application import create_api
from tailrace.api.principals import is_open
from tailrace.app.tokens.authenticator import FileAuthenticator
from tests.contract.test_openapi_fuzz import CHECKS, EXAMPLES, SEED, is_left_to_another_day
from tests.support.api_client import ApiClient
from tests.support.tokens import ALL_SCOPES, bearer, make_token

TAILS: Final = ["tail", "tail_streams"]
CHAINS: Final = 20
STEPS_PER_CHAIN: Final = 8

_folder = tempfile.TemporaryDirectory()
_file = Path(_folder.name, "tokens.json")
HEADERS: Final = bearer(make_token(_file, *ALL_SCOPES))
_acts: list[object] = []
_secured = create_api(
    ApiClient.with_race().store,
    version="1.2.3",
    security=Security(FileAuthenticator(_file, _acts.append), _acts.append),
)
schema = (
    schemathesis.openapi.from_asgi("/openapi.json", _secured)
    .exclude(operation_id=TAILS)
    .exclude(func=is_left_to_another_day)
)


@schema.parametrize()
@settings(max_examples=max(1, EXAMPLES // 4), database=None, suppress_health_check=list(HealthCheck))
@seed(SEED)
def test_without_a_token_nothing_is_done_and_with_one_every_answer_is_foreseen(
    case: schemathesis.Case[Any],
) -> None:
    if not is_open(case.operation.path):
        before = len(_acts)
        refused = case.call(headers={"Authorization": "Bearer tlr_none_none"})
        assert refused.status_code in {400, 401, 405}, refused.text
        assert len(_acts) == before
    checks = [check for check in CHECKS if check is not negative_data_rejection]
    case.call_and_validate(headers=HEADERS, checks=checks)


def test_every_answer_in_a_chain_of_requests_is_foreseen() -> None:
    """Chance is the same each time: a chain that fails once fails again."""
    requests = 0
    unsecured = schemathesis.openapi.from_asgi("/openapi.json", ApiClient.with_race().app)

    class Chain(unsecured.exclude(operation_id=TAILS).as_state_machine()):  # type: ignore[misc] # made at run time
        def validate_response(
            self, response: Any, case: schemathesis.Case[Any], *_args: object, **_options: object
        ) -> None:
            nonlocal requests
            requests += 1
            checks = [check for check in CHECKS if check is not negative_data_rejection]
            case.validate_response(response, checks=checks)

    Chain.run(
        settings=settings(
            max_examples=CHAINS,
            stateful_step_count=STEPS_PER_CHAIN,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
    )
    print(f"{requests} requests in {CHAINS} chains")  # noqa: T201 - the figure
    assert requests > CHAINS
