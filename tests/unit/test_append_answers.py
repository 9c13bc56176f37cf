"""The answers to appends that ran together are those that each would get alone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tailrace.api.operations.appends import xadd_bytes
from tailrace.api.wire.negotiation import JSON
from tailrace.app.protocols.heads import AnswerStarts, answer_head
from tailrace.app.protocols.hot_turn import AppendAnswers
from tailrace.core.stream_id import MAX_ID, StreamId, make_id

FIRST = st.builds(
    make_id,
    st.sampled_from((0, 1, 9, 10, 1_700_000_000_000, 1_700_000_000_001, 2**64 - 2)),
    st.one_of(st.integers(0, 12), st.integers(90, 102), st.integers(2**64 - 12, 2**64 - 1)),
)
STEPS = st.lists(st.one_of(st.just(1), st.integers(2, 2**65)), max_size=15)
RUNS = st.lists(st.tuples(FIRST, STEPS, st.booleans()), min_size=1, max_size=6)
HEADERS = [SimpleNamespace(client=SimpleNamespace(answer_lines=lines)) for lines in ("", "vary: Origin\r\n")]
Run = tuple[StreamId, list[int], bool]


def ids_of(first: StreamId, steps: list[int]) -> list[StreamId]:
    ids = [first]
    for step in steps:
        ids.append(ids[-1] + step)
    return [value for value in ids if value <= MAX_ID]


@given(RUNS)
def test_the_answers_of_a_run_are_those_of_single_appends(
    runs: list[tuple[StreamId, list[int], bool]],
) -> None:
    starts = AnswerStarts()
    answers = AppendAnswers(starts)
    state = SimpleNamespace(default_headers=[(b"date", b"now"), (b"server", b"tailrace")])
    for first, steps, is_later in runs:
        if is_later:
            state.default_headers = [*state.default_headers]  # uvicorn replaces them every second
        ids = ids_of(first, steps)
        requests: list[Any] = [
            SimpleNamespace(
                request_id=f"id-{number}",
                connection=SimpleNamespace(server_state=state),
                headers=HEADERS[number // 3 % 2],
            )
            for number in range(len(ids))
        ]
        answers.give(requests, ids)
        for request, value in zip(requests, ids, strict=True):
            content = xadd_bytes(value)
            start = starts.of(201, state.default_headers)
            head = answer_head(
                start, len(content), JSON, request.request_id, request.headers.client.answer_lines
            )
            assert (request.status, request.answer) == (201, head.encode() + content)
