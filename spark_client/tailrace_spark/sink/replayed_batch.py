"""Finish, on the driver, a batch that an earlier run of the query began.

The tasks of this run appended nothing: they asked the server which of their chunks it has. A chunk that the
server has contains the same rows as before. So if the tasks found as many chunks as the server has keys,
every row that the earlier run appended is in this run under the same key, and the driver appends the chunks
that are missing. Otherwise the partitions or the rows differ, and the driver appends nothing.

Before the first append, this run takes the batch over: the server replaces the layout if the number of keys
is still the same. From then on the server refuses tasks of the earlier run that are still alive. If the
driver dies between two appends, the next run finds the batch in the same way and appends the rest. This
module never converts rows: the tasks return the missing chunks as bodies of requests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tailrace_client import TailraceError
from tailrace_spark.endpoint import Endpoint
from tailrace_spark.errors import SinkError, with_status
from tailrace_spark.sink.batch_requests import Batch, take_over
from tailrace_spark.sink.options import SinkOptions
from tailrace_spark.sink.run_sender import LAYOUT_CHANGED, Checked, Earlier, Place
from tailrace_spark.sink.sender import Replay, Sender, Sent


def finish(endpoint: Endpoint, options: SinkOptions, replay: Replay, parts: Sequence[Checked]) -> None:
    """Append the chunks of the batch that are missing, or raise `SinkError`. Does nothing if no earlier run
    began the batch. `parts`: what the tasks found, one for each partition."""
    places = _added_up(replay, parts)
    senders = {
        place: Sender(endpoint, replace(replay, producer_id=place.producer_id), options, Sent(), turn=0)
        for place in places
    }
    for place, earlier in places.items():
        _take_over(senders[place], replay, place, earlier, len(parts))
    for missing in (chunk for part in parts for chunk in part.missing):
        try:
            senders[missing.place].send_packed(missing.place.stream, missing.unpacked(), missing.key)
        except TailraceError as error:
            raise SinkError(f"{with_status(error)}: {_where(replay, missing.place)}") from error


def _added_up(replay: Replay, parts: Sequence[Checked]) -> Mapping[Place, Earlier]:
    places: dict[Place, Earlier] = {}
    for part in parts:
        for place, found in part.earlier.items():
            earlier = places.setdefault(place, Earlier(found.layout))
            if earlier.layout != found.layout:
                raise _other_run(_where(replay, place))
            earlier.known += found.known
    return places


def _take_over(sender: Sender, replay: Replay, place: Place, earlier: Earlier, partitions: int) -> None:
    """Take the batch over. Raises `SinkError` unless every key of the server is one of this run, with its
    rows."""
    batch = Batch(place.producer_id, replay.batch_id, replay.pinned)
    try:
        sender.repeat(
            place.stream,
            "of the driver",
            lambda client: take_over(client, place.stream, batch, earlier.layout, earlier.known),
        )
    except SinkError as error:
        cause = error.__cause__
        if isinstance(cause, TailraceError) and cause.code == LAYOUT_CHANGED:
            keys = cause.problem.get("keys")
            where = _where(replay, place)
            failure = (
                _other_run(where) if keys is None else _other_cut(where, earlier.known, int(keys), partitions)
            )
            raise failure from cause
        raise


def _other_run(where: str) -> SinkError:
    return SinkError(
        f"LAYOUT_CHANGED: {where}: another run of this query writes the same batch at the same time. This "
        "run appended nothing. Stop the other run, and start this one again."
    )


def _other_cut(where: str, known: int, keys: int, partitions: int) -> SinkError:
    return SinkError(
        f"LAYOUT_CHANGED: {where}: an earlier run wrote {keys} chunks of this batch, and only {known} of "
        f"them are in the {partitions} partitions of this run with the same rows. Nothing was written twice, "
        "and this run wrote nothing. If the number of partitions changed, start the query with the old "
        "number; then it continues. Otherwise the query returns other rows than before, or in another order: "
        "look for rand(), uuid(), and a shuffle without `order=sorted`."
    )


def _where(replay: Replay, place: Place) -> str:
    return f"stream {place.stream!r}, query {replay.producer_id}, batch {replay.batch_id}"
