"""The format under a real Spark Connect server, and the sentences for what a Connect session cannot do."""

from __future__ import annotations

from typing import Any

import pytest

from tailrace_client import Tailrace
from tests.spark.spark_processes import driver

pytestmark = pytest.mark.long

STREAM = "connect:in"
RIDERS = ["Castilla", "Norem", "Prickett"]


@pytest.fixture(scope="module")
def seen(base_url: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What a client of the Connect server saw, by step."""
    directory = tmp_path_factory.mktemp("connect")
    with Tailrace(base_url) as tailrace:
        tailrace.stream(STREAM).append_many([{"rider": rider} for rider in RIDERS])
    streams = {"stream": STREAM, "batch": "connect:batch", "streaming": "connect:streaming"}
    checkpoint = directory / "checkpoint"
    log = directory / "driver.log"
    with driver(
        "tests.spark.connect_driver", log, {}, url=base_url, checkpoint=checkpoint, **streams
    ) as client:
        client.wait()
        steps = {line.pop("step"): line for line in client.printed()}
        assert "history" in steps, client.log_text[-4000:]
    return steps


def riders_in(base_url: str, stream: str) -> list[str]:
    with Tailrace(base_url) as tailrace:
        return [fields["rider"] for _, fields in tailrace.stream(stream).read()]


def test_a_connect_session_reads_a_stream_as_a_frame_and_in_sql(seen: dict[str, dict[str, Any]]) -> None:
    assert seen["session"]["module"].startswith("pyspark.sql.connect.")
    assert len(seen["read"]["ids"]) == len(RIDERS)
    assert seen["view"]["counts"] == [len(RIDERS)]


@pytest.mark.parametrize("copy", ["connect:batch", "connect:streaming"])
@pytest.mark.usefixtures("seen")
def test_a_connect_session_writes_a_stream_in_batch_and_streaming_queries(base_url: str, copy: str) -> None:
    assert sorted(riders_in(base_url, copy)) == RIDERS


@pytest.mark.parametrize(
    ("step", "name"), [("sink", "TailraceSink"), ("archive", "archive_stream"), ("history", "read_history")]
)
def test_what_a_connect_session_cannot_do_is_refused_in_one_sentence(
    seen: dict[str, dict[str, Any]], step: str, name: str
) -> None:
    assert seen[step]["refusal"].startswith(f"{name} does not work with a Spark Connect session; ")
