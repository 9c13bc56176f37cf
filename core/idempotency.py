"""What a stream remembers of appends made under an idempotency key.

Two kinds of producers share the memory, each by its name:

* As in Redis (IDMP): keys are forgotten by time and by count, oldest first. Time is the millisecond
  part of the first id that the append gave, so the memory needs no clock (rules 60 to 63).
* With an epoch: a producer that replays whole batches. Its keys are kept for its current and its last
  epoch whatever the time; an older epoch is refused, since whether its appends were made is no longer
  known. The layout (how the batch was cut) is pinned by the first request of an epoch that names one:
  the same batch cut differently would slip past the keys and double its entries.

Looking changes nothing; `remember`, `configure` and `expire` are called by `core.apply` alone.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from msgspec import Struct

from core.commands import Idempotency
from core.effects import AppendRemembered
from core.errors import ErrorCode, StreamError
from core.id_sequence import IdSequence, pack_ids
from core.stream_id import StreamId, id_ms


class Remembered(Struct, frozen=True):
    """The ids that the append gave, and the hash of what it said (None: not kept)."""

    ids: IdSequence
    fingerprint: bytes | None


class Epoch(Struct):
    """One epoch of a producer: its pinned layout, and its keys."""

    number: int
    layout: bytes | None
    keys: dict[bytes, Remembered]


class Producer(Struct):
    """`keys`: those kept by time and count, oldest first. `epochs`: the last and the current one."""

    keys: OrderedDict[bytes, Remembered]
    epochs: list[Epoch]

    @property
    def key_count(self) -> int:
        return len(self.keys) + sum(len(epoch.keys) for epoch in self.epochs)


class IdempotencyMemory:
    """`duration_s` and `maxsize` bound the keys without an epoch; `keys_added` and `duplicates` count
    over the stream's whole life. `producers`: by name; only this module and `core.storage` look in."""

    __slots__ = ("duplicates", "duration_s", "keys_added", "maxsize", "producers")

    def __init__(self, duration_s: int, maxsize: int) -> None:
        self.duration_s = duration_s
        self.maxsize = maxsize
        self.keys_added = 0
        self.duplicates = 0
        self.producers: dict[bytes, Producer] = {}

    @property
    def producer_count(self) -> int:
        """How many producers have remembered keys or an epoch."""
        return len(self.producers)

    @property
    def key_count(self) -> int:
        """How many keys are remembered. O(producers)."""
        return sum(producer.key_count for producer in self.producers.values())

    # --- looking -------------------------------------------------------------------------------

    def find(self, request: Idempotency) -> Sequence[StreamId] | None:
        """The ids of the append that was made under this key, None where there was none. O(1).

        Raises `StreamError` STALE_EPOCH, LAYOUT_CHANGED, or IDEMPOTENCY_MISMATCH where the key
        stands for another body.
        """
        producer = self.producers.get(request.producer)
        if producer is None:
            return None
        keys: dict[bytes, Remembered] = producer.keys
        if request.epoch is not None:
            keys = _keys_of_epoch(producer.epochs, request.epoch, request.layout)
        found = keys.get(request.key)
        if found is None:
            return None
        if None not in (request.fingerprint, found.fingerprint) and request.fingerprint != found.fingerprint:
            raise StreamError(
                ErrorCode.IDEMPOTENCY_MISMATCH,
                "ERR the idempotency key was used before with another body",
            )
        return found.ids

    def has_expired(self, before_ms: int) -> bool:
        """Whether `expire` with the same time would forget anything. O(producers)."""
        return any(_is_expired(producer, before_ms) for producer in self.producers.values())

    # --- changing ------------------------------------------------------------------------------

    def remember(self, effect: AppendRemembered) -> None:
        """Keep the key; forget what that pushes out: keys over `maxsize`, epochs before the last."""
        producer = self.producers.setdefault(effect.producer, Producer(OrderedDict(), []))
        made = Remembered(pack_ids(effect.ids), effect.fingerprint)
        self.keys_added += 1
        if effect.epoch is None:
            producer.keys[effect.idempotency_key] = made
            while len(producer.keys) > self.maxsize:
                producer.keys.popitem(last=False)
            return
        epoch = _epoch_for(producer.epochs, effect.epoch)
        if epoch.layout is None:
            epoch.layout = effect.layout
        epoch.keys[effect.idempotency_key] = made

    def configure(self, duration_s: int, maxsize: int) -> None:
        """Set the bounds and forget all keys that they bound; epochs are not theirs (rule 63)."""
        self.duration_s = duration_s
        self.maxsize = maxsize
        for producer in self.producers.values():
            producer.keys.clear()
        self._drop_empty()

    def expire(self, before_ms: int) -> None:
        """Forget keys whose first id is at or before `before_ms`. O(forgotten + producers)."""
        for producer in self.producers.values():
            while _is_expired(producer, before_ms):
                producer.keys.popitem(last=False)
        self._drop_empty()

    def _drop_empty(self) -> None:
        kept = {name: each for name, each in self.producers.items() if each.keys or each.epochs}
        self.producers = kept


def _is_expired(producer: Producer, before_ms: int) -> bool:
    if not producer.keys:
        return False
    oldest = next(iter(producer.keys.values()))
    return id_ms(oldest.ids[0]) <= before_ms


def _keys_of_epoch(epochs: Sequence[Epoch], number: int, layout: bytes | None) -> dict[bytes, Remembered]:
    """The keys to look in; raises STALE_EPOCH or LAYOUT_CHANGED."""
    known = next((epoch for epoch in epochs if epoch.number == number), None)
    if known is None:
        if epochs and number < epochs[-1].number:
            raise StreamError(
                ErrorCode.STALE_EPOCH,
                f"ERR the producer's epoch {number} is older than those that are remembered",
                epoch=str(epochs[-1].number),
            )
        return {}
    if None not in (layout, known.layout) and layout != known.layout:
        raise StreamError(
            ErrorCode.LAYOUT_CHANGED,
            f"ERR epoch {number} was begun with another layout: replay it as it was cut first",
            layout=(known.layout or b"").decode("utf-8", "backslashreplace"),
        )
    return known.keys


def _epoch_for(epochs: list[Epoch], number: int) -> Epoch:
    """The epoch `number`, begun if it is new; all but the one before it are dropped then."""
    for epoch in epochs:
        if epoch.number == number:
            return epoch
    begun = Epoch(number, None, {})
    epochs[:] = [*epochs[-1:], begun]
    return begun
