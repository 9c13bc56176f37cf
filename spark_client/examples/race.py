"""The checkpoints of a race through Spark and Tailrace. `make pipeline` runs it, and `spark-submit` can.

    files of readings ──▶ sink ──▶ race:checkpoints ──▶ source, windows ──▶ race:pace
                            │               └──▶ archive job ──▶ Parquet
                            └──▶ race:refused, for the row that no server accepts

Each part is a query that processes the entries that exist and then ends (`availableNow`), so that you can
look at the whole. In production, each part runs without end as a job of its own. This program owns the
computation. Its caller provides the server and a local or remote Spark.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Final

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as all of Spark's documentation has it
from pyspark.sql.streaming.readwriter import DataStreamWriter

from tailrace_client import Tailrace
from tailrace_spark import TailraceDataSource, TailraceSink, archive_stream, read_history

CHECKPOINTS: Final = "race:checkpoints"
REFUSED: Final = "race:refused"
PACE: Final = "race:pace"

RIDERS: Final = ("Castilla", "Norem", "Prickett", "Royce", "Sam-Bodden")
START: Final = datetime(2026, 7, 4, 12, 0, tzinfo=UTC)
READINGS_A_FILE: Final = 20_000
FILES: Final = 5
LATE_BY: Final = timedelta(minutes=40)
SCHEMA: Final = "rider string, speed double, position int, location_id int, at timestamp"
WINDOW: Final = "5 minutes"
WATERMARK: Final = "10 minutes"
STARTS_MAX: Final = 5
NOT_STARTED: Final = "Python worker failed to connect back"


@dataclass(frozen=True)
class Places:
    """The URL of the server, and a directory that all of Spark can read and write."""

    url: str
    directory: str
    token_file: str | None = None

    def options(self) -> dict[str, str]:
        """Return the options of the data source, except the stream."""
        token = {} if self.token_file is None else {"tokenFile": self.token_file}
        return {"url": self.url, **token}

    def at(self, name: str) -> str:
        """Return a path of the pipeline."""
        return f"{self.directory}/{name}"


def write_readings(directory: Path) -> int:
    """Write files of readings and return the number of lines.

    The readings of each rider are a second apart. The last file contains one late reading, and one line that
    no server accepts: it has no field at all.
    """
    directory.mkdir(parents=True)
    for number in range(FILES):
        first = number * READINGS_A_FILE
        lines = [_reading(first + n) for n in range(READINGS_A_FILE)]
        if number == FILES - 1:
            late = START + timedelta(seconds=(first + READINGS_A_FILE) // len(RIDERS)) - LATE_BY
            lines += [_line("Castilla", 99.9, 1, 1, late), "{}"]
        (directory / f"{number}.json").write_text("".join(f"{line}\n" for line in lines))
    return FILES * READINGS_A_FILE + 2


def _reading(number: int) -> str:
    rider = number % len(RIDERS)
    second = number // len(RIDERS)
    speed = 28 + (second * 7 + rider * 3) % 50 / 10
    return _line(RIDERS[rider], speed, rider + 1, second // 600 + 1, START + timedelta(seconds=second))


def _line(rider: str, speed: float, position: int, location_id: int, at: datetime) -> str:
    return json.dumps(
        {
            "rider": rider,
            "speed": speed,
            "position": position,
            "location_id": location_id,
            "at": at.isoformat(),
        }
    )


def collect(spark: SparkSession, places: Places) -> None:
    """Append each reading from the files to the stream once. Refused lines go to another stream."""
    sink = TailraceSink(places.url, CHECKPOINTS, token_file=places.token_file, dead_letter_stream=REFUSED)
    readings = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(places.at("readings"))
    writer = readings.writeStream.foreachBatch(sink).option("checkpointLocation", places.at("collect"))
    _finish(writer)


def measure_pace(spark: SparkSession, places: Places) -> None:
    """Write the mean speed of each rider in windows of event time. Each window is written once, when it is
    over. Readings that are later than the watermark are left out."""
    readings = spark.readStream.format("tailrace").schema(SCHEMA).options(**places.options())
    readings = readings.options(stream=CHECKPOINTS, maxEntriesPerTrigger=str(READINGS_A_FILE))
    windows = pace_of(readings.load().withWatermark("at", WATERMARK))
    writer = windows.writeStream.format("tailrace").outputMode("append").options(**places.options())
    writer = writer.options(stream=PACE, checkpointLocation=places.at("pace"))
    _finish(writer)


def pace_of(readings: DataFrame) -> DataFrame:
    """Return the aggregate of a batch or of a stream."""
    grouped = readings.groupBy(F.window("at", WINDOW).alias("window"), "rider")
    figures = grouped.agg(F.count("*").alias("readings"), F.round(F.avg("speed"), 3).alias("mean_speed"))
    return figures.selectExpr(
        "window.start as `from`", "window.end as `until`", "rider", "readings", "mean_speed"
    )


def archive(spark: SparkSession, places: Places) -> None:
    """Archive the readings to Parquet, and trim them from the stream."""
    options = {name: value for name, value in places.options().items() if name != "url"}
    report = archive_stream(spark, places.url, CHECKPOINTS, places.at("archive"), **options)
    print(f"  {report}")


def run(spark: SparkSession, places: Places) -> None:
    """Run all parts one after the other, and print the result of each."""
    spark.dataSource.register(TailraceDataSource)
    token = None if places.token_file is None else Path(places.token_file).read_text().strip()
    with Tailrace(places.url, token) as tailrace:
        streams = {name: tailrace.stream(name) for name in (CHECKPOINTS, REFUSED, PACE)}
        rows = streams[CHECKPOINTS].length
        _timed("collect: files to the stream", partial(collect, spark, places), rows)
        readings = rows()
        _timed("pace: windows of five minutes", partial(measure_pace, spark, places), rows)
        counted = {name: stream.length() for name, stream in streams.items()}
        _timed("archive: the stream to Parquet", partial(archive, spark, places), lambda: readings)
        counted["history of the readings"] = _history_count(spark, places)
        counted["readings still in the stream"] = rows()
    for name, count in counted.items():
        print(f"{name}: {count}", flush=True)


def _history_count(spark: SparkSession, places: Places) -> int:
    options = {name: value for name, value in places.options().items() if name != "url"}
    return read_history(spark, places.url, CHECKPOINTS, places.at("archive"), **options).count()


def _timed(what: str, job: Callable[[], None], rows: Callable[[], int]) -> None:
    print(f"{what} ...", flush=True)
    began_s = perf_counter()
    job()
    taken_s = perf_counter() - began_s
    print(f"  {rows()} rows in {taken_s:.1f} s, {rows() / taken_s:.0f} rows/s", flush=True)


def _finish(writer: DataStreamWriter) -> None:
    """Run the query to its end.

    Spark gives the Python process of a stream source ten seconds to start, and a busy machine may need
    longer. In that case nothing was read, and the query is started again.
    """
    for attempt in range(STARTS_MAX):
        query = writer.trigger(availableNow=True).start()
        try:
            query.awaitTermination()
        except StreamingQueryException as error:
            if NOT_STARTED not in str(error) or attempt == STARTS_MAX - 1:
                raise
        else:
            return


def main() -> None:
    """Run the pipeline for `spark-submit`. Writes the readings if they do not exist."""
    parser = argparse.ArgumentParser(
        description="Run the race pipeline on the Spark that this is submitted to."
    )
    parser.add_argument("--url", required=True, help="the server, such as http://tailrace:8080")
    parser.add_argument(
        "--directory", required=True, help="a directory that the driver and all executors can read and write"
    )
    parser.add_argument("--token-file", help="the file with the token, where the tasks run")
    arguments = parser.parse_args()
    readings = Path(arguments.directory) / "readings"
    if not readings.exists():
        print(f"readings: {write_readings(readings)} lines in {readings}")
    spark = SparkSession.builder.appName("race").getOrCreate()
    run(spark, Places(arguments.url, arguments.directory, arguments.token_file))
    spark.stop()


if __name__ == "__main__":
    main()
