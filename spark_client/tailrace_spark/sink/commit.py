"""Commit a batch on the driver: choose the staged chunks that count, once, and publish them.

The state of a producer's newest batch is the only entry of its stream `Places.commit`. A new state replaces
the one that its writer has read (`if_last_id`), so of two runs that try, one succeeds:

    begun    a run of the query stages chunks. Its id is the token of the run
    chosen   the manifest: which chunks the batch consists of
    done     all of them are in their streams

    begun ──> begun     another run of the same batch takes over; the token of the earlier one is worthless
    begun ──> chosen    only by the run whose token is the state
    chosen ─> done      by any run
    done ───> begun     a later batch

So a batch is chosen once, whatever its replays are. A replay that finds `chosen` publishes what the manifest
names; one that finds `done` does nothing. Neither looks at its own rows.

Each chunk is published by one request with the key (producer, batch, chunk). The chunk and its key are stored
together, and every run sends the same bytes, so publishing may be repeated, by several runs at once too.

Staged chunks are removed by their ids, which rise with time. When a run begins, it has read the last id
before that; when a batch is done, the manifest has the last id. All entries up to this id belong to runs that
can no longer commit, or are published. Entries of later runs have greater ids.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import reduce
from threading import Event
from typing import Final, NamedTuple

from tailrace_client import Tailrace, TailraceError
from tailrace_client.stream_calls import Trim
from tailrace_spark.endpoint import Endpoint
from tailrace_spark.entry_ids import just_above, later
from tailrace_spark.errors import SinkError
from tailrace_spark.sink.appender import Appender, check_count
from tailrace_spark.sink.options import SinkOptions
from tailrace_spark.sink.reports import PartitionCounts, summed
from tailrace_spark.sink.sender import Body, Encoding, Replay, Sender, Sent, Shape
from tailrace_spark.sink.staging import Chunk, encoding_of, places_of, staged_body

BEGUN: Final = "begun"
CHOSEN: Final = "chosen"
DONE: Final = "done"
NO_ENTRY: Final = "0-0"
ITS_COMMIT: Final = "its commit"

PUBLISHERS: Final = 4
"""How many partitions the driver publishes at the same time."""

log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of a query. `query`: the id of the streaming query, empty outside one. `run`: a name that
    differs in every attempt to write the batch."""

    producer_id: str
    number: int
    query: str
    run: str


class State(NamedTuple):
    """The state of a producer's newest batch. `id`: of the entry that contains it. The other attributes are
    its fields, as text."""

    id: str = NO_ENTRY
    state: str = DONE
    batch: str = "-1"
    run: str = ""
    query: str = ""
    shape: Shape = "fields"
    encoding: Encoding = "zstd"
    chunks: str = "[]"
    rows: str = "0"
    dead_letters: str = "0"

    @property
    def number(self) -> int:
        """Return the number of the batch."""
        return int(self.batch)

    def fields(self) -> dict[str, str]:
        """Return the fields of the entry."""
        return {name: value for name, value in self._asdict().items() if name != "id"}


class Commit:
    """The commit of one batch. `stream`: the stream of the sink; None if each row names its stream."""

    def __init__(self, endpoint: Endpoint, options: SinkOptions, stream: str | None, batch: Batch) -> None:
        self._endpoint = endpoint
        self._options = options
        self._stream = stream
        self._batch = batch
        self._where = f"stream {stream!r}, query {batch.producer_id}, batch {batch.number}"
        self._places = places_of(stream, batch.producer_id)
        self._sent = Sent()
        replay = Replay(batch.producer_id, batch.number, "")
        self._sender = Sender(endpoint, replay, options, self._sent, 0)
        self._state = StateStream(self._places.commit, self._sender)

    # --- the steps ---------------------------------------------------------------------------------------

    def begin(self) -> State:
        """Begin to stage. If the batch is chosen already, return that state instead. Raises `SinkError` if a
        later batch has begun.

        All tasks of a run may call this; they get the same state.
        """
        while True:
            now = self._state.read()
            if now.number > self._batch.number:
                raise stale_batch(self._where, now.batch)
            if now.number == self._batch.number and now.state in (CHOSEN, DONE):
                self._check_query(now)
                log.info("batch %s of %s was committed by an earlier run", now.batch, self._batch.producer_id)
                return now
            if now.state == CHOSEN:
                self.finish(now)
                continue
            if now.state == BEGUN and (now.number, now.run) == (self._batch.number, self._batch.run):
                return now
            last_staged = self._last_staged() if now.state == BEGUN else None
            begun = State(NO_ENTRY, BEGUN, str(self._batch.number), self._batch.run, self._batch.query)
            token = self._state.replace(now, begun)
            if token is not None:
                self._drop(last_staged)
                return begun._replace(id=token)

    def choose(self, tokens: AbstractSet[str], parts: Sequence[Sequence[Chunk]], shape: Shape) -> State:
        """Choose the chunks that the batch consists of, one sequence for each partition. Returns the state
        that won. Raises `SinkError` if another run took over; then nothing of this run is published.

        `tokens`: the ids of the states under which the tasks staged. If there are several, another run began
        in between, and may have removed chunks of this one.
        """
        token = next(iter(tokens), "")
        if len(tokens) == 1:
            manifest = json.dumps([part for part in parts if part], separators=(",", ":"))
            chosen = State(
                token,
                state=CHOSEN,
                batch=str(self._batch.number),
                run=self._batch.run,
                query=self._batch.query,
                shape=shape,
                encoding=encoding_of(self._options),
                chunks=manifest,
            )
            entry_id = self._state.replace(chosen, chosen)
            if entry_id is not None:
                return chosen._replace(id=entry_id)
        now = self._state.read()
        if now.number == self._batch.number and now.state in (CHOSEN, DONE):
            self._check_query(now)
            return now
        raise taken_over(self._where)

    def finish(self, state: State) -> PartitionCounts:
        """Publish what `state` names, if it is not done, and remove the staged chunks. Raises `SinkError`."""
        if state.state == DONE:
            counts = PartitionCounts(rows=int(state.rows), dead_letters=int(state.dead_letters))
            return replace(counts, retries=self._sent.retries)
        parts = [[Chunk(*chunk) for chunk in part] for part in json.loads(state.chunks)]
        counts = self._published(state, parts)
        check_count(counts.dead_letters, self._options.dead_letters_max)
        done = state._replace(
            state=DONE, chunks="[]", rows=str(counts.rows), dead_letters=str(counts.dead_letters)
        )
        self._state.replace(state, done)  # If this fails, another run has done the same.
        staged = [entry_id for part in parts for chunk in part for entry_id in chunk.ids]
        self._drop(reduce(later, staged) if staged else None)
        return replace(counts, retries=counts.retries + self._sent.retries)

    def remove(self) -> None:
        """Delete the staging streams, if the token permits it, after the only batch of a producer."""
        for place in self._places:
            try:
                self._endpoint.client().stream(place).delete()
            except TailraceError as error:
                log.info("the empty stream %r stays: %s", place, error)

    # --- publishing ---------------------------------------------------------------------------------------

    def _published(self, state: State, parts: Sequence[Sequence[Chunk]]) -> PartitionCounts:
        """Publish the partitions. An error in one of them, and an interrupt, stops the others: no thread
        appends when this has returned or raised."""
        stop = Event()
        with ThreadPoolExecutor(PUBLISHERS, "tailrace-publish") as pool:
            running = [
                pool.submit(self._publish, state, number, part, stop) for number, part in enumerate(parts)
            ]
            try:
                return summed([each.result() for each in running])
            except BaseException:
                stop.set()
                raise

    def _publish(self, state: State, number: int, part: Sequence[Chunk], stop: Event) -> PartitionCounts:
        """Publish the chunks of one partition in their order. When one partition fails, the others stop."""
        sent, rows = Sent(), 0
        replay = Replay(self._batch.producer_id, state.number, f"staged by run {state.run}")
        appender = Appender(self._endpoint, self._stream, self._options, replay, sent, number)
        try:
            for chunk in part:
                if stop.is_set():
                    break
                content = self._staged(appender.sender, chunk)
                if content is None:
                    self._check_done(state, chunk)
                    break
                appender.append(chunk.stream, chunk.key, Body(content, state.shape, state.encoding))
                rows += chunk.rows
        except BaseException:
            stop.set()
            raise
        return PartitionCounts(
            rows, sent.bytes, sent.requests, sent.replayed, sent.retries, appender.dead_letters
        )

    def _staged(self, sender: Sender, chunk: Chunk) -> bytes | None:
        place = self._places.chunks
        return sender.repeat(place, f"chunk {chunk.key}", lambda client: staged_body(client, place, chunk))

    def _check_done(self, state: State, chunk: Chunk) -> None:
        """Raise `SinkError` unless another run has published the batch meanwhile, and removed its chunks."""
        now = self._state.read()
        if now.number > state.number or (now.number == state.number and now.state == DONE):
            return
        raise chunk_gone(self._where, self._places.chunks, chunk.rows, chunk.ids)

    # --- staged chunks ---------------------------------------------------------------------------------

    def _last_staged(self) -> str | None:
        def read(client: Tailrace) -> str | None:
            head = client.stream(self._places.chunks).head()
            return None if head is None else head.last_id

        return self._sender.repeat(self._places.chunks, ITS_COMMIT, read)

    def _drop(self, last: str | None) -> None:
        """Remove the staged chunks up to and including the id `last`. A failure is logged: the next batch
        removes them, too.

        This is an append with a trim, because a trim alone, and one that empties the stream, need the scope
        `admin`. So a small entry stays.
        """
        if last is None:
            return
        next_id = just_above(last)
        try:
            self._sender.repeat(
                self._places.chunks,
                ITS_COMMIT,
                lambda client: client.stream(self._places.chunks).append(
                    {"trimmed_up_to": next_id}, trim=Trim(min_id=next_id)
                ),
            )
        except (SinkError, TailraceError) as error:
            log.warning("staged chunks in %r are not removed yet: %s", self._places.chunks, error)

    def _check_query(self, now: State) -> None:
        """Raise `SinkError` if the batch is one of another query that has the same producer: then it is not a
        replay."""
        if now.query != self._batch.query:
            raise batch_of_another_query(self._where, now.query)


# --- the state on the server -----------------------------------------------------------------------------


def _state_of(entry_id: str, fields: Mapping[str, str]) -> State:
    return State(entry_id, **{name: fields[name] for name in State._fields if name in fields})  # type: ignore[arg-type]


class StateStream:
    """The stream that contains the state."""

    def __init__(self, name: str, sender: Sender) -> None:
        self._name = name
        self._sender = sender

    def read(self) -> State:
        """Return the state; that of a batch before all others if there is none, because no batch has begun or
        somebody removed the entry."""

        def last(client: Tailrace) -> State:
            stream = client.stream(self._name)
            while not (entries := stream.last()):
                head = stream.head()
                if head is None:
                    return State()
                if not head.length:
                    return State(head.last_id)
            return _state_of(*entries[0])

        return self._sender.repeat(self._name, ITS_COMMIT, last)

    def replace(self, before: State, after: State) -> str | None:
        """Replace the state, and return the id of the new entry; None if `before` is not the state any more.

        After a lost response this may return None although it replaced the state: read it then.
        """

        def replaced(client: Tailrace) -> str | None:
            try:
                return client.stream(self._name).append(
                    after.fields(), if_last_id=before.id, trim=Trim(max_length=1)
                )
            except TailraceError as error:
                if error.code == "PRECONDITION_FAILED":
                    return None
                raise

        return self._sender.repeat(self._name, ITS_COMMIT, replaced)


# --- errors ------------------------------------------------------------------------------------------------


def stale_batch(where: str, newest: str) -> SinkError:
    """Return the error of a run whose batch is older than the newest one of the query."""
    return SinkError(
        f"STALE_EPOCH: {where}: a later batch ({newest}) of this query was already started. This run wrote "
        "no rows. Check whether a second run of the query, or a run from an older checkpoint, writes to this "
        "stream."
    )


def batch_of_another_query(where: str, query: str) -> SinkError:
    """Return the error of a run that finds its batch committed by a query that has the same producer."""
    return SinkError(
        f"producer_id: {where}: a batch with this number was already written by another query "
        f"({query or 'outside a streaming query'}). This run wrote no rows. Give each query, and each new "
        "checkpoint, its own producer_id."
    )


def taken_over(where: str) -> SinkError:
    """Return the error of a run that lost its batch to another run before the commit."""
    return SinkError(
        f"TAKEN_OVER: {where}: another run of this query began the same batch. This run wrote no rows to the "
        "stream. Stop the other run, and start this one again."
    )


def chunk_gone(where: str, place: str, rows: int, ids: Sequence[str]) -> SinkError:
    """Return the error of a committed batch that cannot be published, because a staged chunk is missing."""
    return SinkError(
        f"CHUNK_GONE: {where}: the batch is committed, and {rows} of its rows are not published and gone: "
        f"the entries {', '.join(ids)} are missing in the stream {place!r}. Was it deleted or trimmed, or a "
        "backup restored? docs/spark.md says how to continue without these rows."
    )
