"""A stream that is deleted and created again is another stream: its entries are neither taken for those of
the archived one, nor trimmed."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from tailrace_client import Tailrace
from tailrace_spark import archive_stream, read_history
from tailrace_spark.errors import DataLoss
from tests.support.server_process import running_server

OLD_IDS = ["1-1", "1-2", "2-1"]
LATER_IDS = ["3-1", "3-2"]
STEPS = (": writing", ": written", ": read back", ": a part of the archive")


@pytest.fixture(scope="module")
def tailrace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tailrace]:
    with running_server(tmp_path_factory.mktemp("server")) as server, Tailrace(server.base_url) as client:
        yield client


class At(logging.Handler):
    """Acts once, where the job says that it has come so far."""

    def __init__(self, said: str, act: Callable[[], object]) -> None:
        super().__init__()
        self._said, self._acts = said, [act]

    def emit(self, record: logging.LogRecord) -> None:
        if self._said in record.getMessage() and self._acts:
            self._acts.pop()()


@contextmanager
def acting(said: str, act: Callable[[], object]) -> Iterator[None]:
    logger = logging.getLogger("tailrace_spark.archive.job")
    handler, level = At(said, act), logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


def url_of(tailrace: Tailrace) -> str:
    return tailrace.session.settings.url


def fill(tailrace: Tailrace, name: str, ids: list[str], life: str) -> None:
    for entry_id in ids:
        tailrace.stream(name).append({"life": life}, id=entry_id)


def create_again(tailrace: Tailrace, name: str, ids: list[str]) -> None:
    tailrace.stream(name).delete()
    fill(tailrace, name, ids, "second")


def manifests(path: Path) -> list[Path]:
    return sorted(path.glob("_tailrace/*.json"))


def lives(history: DataFrame) -> list[tuple[str, str]]:
    return sorted((row[0], row[1]) for row in history.selectExpr("_id", "fields['life']").collect())


def test_a_stream_created_again_with_later_ids_is_data_loss_and_nothing_is_written_or_trimmed(
    spark: SparkSession, tailrace: Tailrace, tmp_path: Path
) -> None:
    fill(tailrace, "later", OLD_IDS, "first")
    archive_stream(spark, url_of(tailrace), "later", str(tmp_path), until="1-2")
    before = sorted(tmp_path.rglob("*"))
    create_again(tailrace, "later", LATER_IDS)
    with pytest.raises(
        DataLoss, match=r"deleted and created again.*Nothing was written or trimmed.*another path"
    ):
        archive_stream(spark, url_of(tailrace), "later", str(tmp_path))
    assert sorted(tmp_path.rglob("*")) == before
    assert tailrace.stream("later").length() == len(LATER_IDS)
    with pytest.raises(DataLoss, match="entries after the archive are lost"):
        read_history(spark, url_of(tailrace), "later", str(tmp_path))


@pytest.mark.parametrize("said", STEPS)
def test_a_stream_created_again_during_a_step_is_data_loss_and_keeps_its_entries(
    spark: SparkSession, tailrace: Tailrace, tmp_path: Path, said: str
) -> None:
    """It has the same ids, so that counts and ranges tell nothing."""
    name = f"during{said}"
    fill(tailrace, name, OLD_IDS, "first")
    with (
        acting(said, lambda: create_again(tailrace, name, OLD_IDS)),
        pytest.raises(DataLoss, match="deleted and created again"),
    ):
        archive_stream(spark, url_of(tailrace), name, str(tmp_path))
    assert [fields for _, fields in tailrace.stream(name).read()] == [{"life": "second"}] * len(OLD_IDS)
    assert len(manifests(tmp_path)) == (said == STEPS[-1])


def test_a_stream_created_again_after_the_manifest_is_not_trimmed_by_the_next_run(
    spark: SparkSession, tailrace: Tailrace, tmp_path: Path
) -> None:
    fill(tailrace, "untrimmed", OLD_IDS, "first")
    archive_stream(spark, url_of(tailrace), "untrimmed", str(tmp_path), trim="nothing")
    create_again(tailrace, "untrimmed", OLD_IDS)
    with pytest.raises(DataLoss):
        archive_stream(spark, url_of(tailrace), "untrimmed", str(tmp_path))
    assert tailrace.stream("untrimmed").length() == len(OLD_IDS)


def test_without_fail_on_data_loss_the_archive_goes_on_at_the_first_entry_of_the_new_stream(
    spark: SparkSession, tailrace: Tailrace, tmp_path: Path
) -> None:
    url, path = url_of(tailrace), str(tmp_path)
    fill(tailrace, "goes-on", OLD_IDS, "first")
    archive_stream(spark, url, "goes-on", path)
    create_again(tailrace, "goes-on", ["1-2", "3-1"])
    both = [("1-1", "first"), ("1-2", "first"), ("1-2", "second"), ("2-1", "first"), ("3-1", "second")]
    assert lives(read_history(spark, url, "goes-on", path, failOnDataLoss="false")) == both
    report = archive_stream(spark, url, "goes-on", path, failOnDataLoss="false")
    assert (report.entries, report.trimmed) == (2, 2)
    assert lives(read_history(spark, url, "goes-on", path)) == both


def test_a_history_whose_stream_is_created_again_before_it_is_read_is_data_loss(
    spark: SparkSession, tailrace: Tailrace, tmp_path: Path
) -> None:
    fill(tailrace, "pending", OLD_IDS, "first")
    archive_stream(spark, url_of(tailrace), "pending", str(tmp_path), until="1-2")
    history = read_history(spark, url_of(tailrace), "pending", str(tmp_path))
    create_again(tailrace, "pending", LATER_IDS)
    with pytest.raises(PySparkException, match=r"DataLoss: .*deleted and created again"):
        history.collect()


def test_the_first_step_after_an_archive_of_an_earlier_release_keeps_the_incarnation(
    spark: SparkSession, tailrace: Tailrace, tmp_path: Path
) -> None:
    fill(tailrace, "pinned", OLD_IDS, "first")
    archive_stream(spark, url_of(tailrace), "pinned", str(tmp_path), until="1-2")
    [manifest] = manifests(tmp_path)
    content = json.loads(manifest.read_text())
    assert content.pop("incarnation") == tailrace.stream("pinned").info().incarnation
    del content["in_pairs"]
    manifest.write_text(json.dumps({**content, "format": 1}))
    manifest.with_name(f".{manifest.name}.crc").unlink(missing_ok=True)
    archive_stream(spark, url_of(tailrace), "pinned", str(tmp_path))
    assert [json.loads(each.read_text()).get("incarnation") for each in manifests(tmp_path)] == [
        None,
        tailrace.stream("pinned").info().incarnation,
    ]
