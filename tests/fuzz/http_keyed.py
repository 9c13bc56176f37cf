"""The headers of a producer in the heads of fuzzed requests.

The server reads a head without the HTTP parser if it is plain (`app.protocols.heads`). So the same few
forms of a head are made again and again, with other values, and next to them heads that are almost of such a
form. This module never makes a request.
"""

from __future__ import annotations

from random import Random
from typing import Final, NamedTuple


class Lines(NamedTuple):
    """Lines of a head: before and after the type and length of the body."""

    before: tuple[str, ...]
    after: tuple[str, ...] = ()


_KEY, _PRODUCER = "Idempotency-Key: {key}", "Producer-Id: {producer}"

PLAIN: Final = (
    Lines((_KEY, _PRODUCER)),
    Lines(("idempotency-key: {key}",), ("producer-id: {producer}",)),
    Lines((), ("PRODUCER-ID: {producer}", "IDEMPOTENCY-KEY: {key}")),
    Lines((_KEY, "Producer-Epoch: 3", _PRODUCER), ("Producer-Layout: two parts",)),
)
"""The usual forms. The first one is that of the Python client."""

ODD: Final = (
    Lines((_KEY + " ", _PRODUCER)),
    Lines((_KEY, _PRODUCER + "\t")),
    Lines(("Idempotency-Key:{key}", _PRODUCER)),
    Lines(("Idempotency-Key:  {key}", "Producer-Id:\t{producer}")),
    Lines(("Idempotency-Key: {key} {other}", _PRODUCER)),
    Lines(("Idempotency-Key: {key}\u00e9", _PRODUCER)),
    Lines(("Idempotency-Key: " + "{key}" * 700, _PRODUCER)),
    Lines(("Idempotency-Key: ", _PRODUCER)),
    Lines((_KEY, "Producer-Id: ")),
    Lines((_KEY, _PRODUCER, "Producer-Epoch: three")),
    Lines((_KEY,)),
    Lines((_PRODUCER,)),
    Lines(("X-Idempotency-Key: {key}", _PRODUCER)),
    Lines(("Prefer: nothing", _KEY, _PRODUCER)),
    Lines((_KEY, "Accept: */*", _PRODUCER)),
    Lines((_KEY, _PRODUCER, "X-Request-Id: mine")),
    Lines((_KEY, _PRODUCER), ("Expect: 100-continue",)),
    Lines((_KEY, _PRODUCER), ("Content-Encoding: identity",)),
)
"""Forms that differ from the usual ones, or have another meaning."""

BROKEN: Final = (
    "Idempotency-Key: {key}\r{other}",
    "Idempotency-Key: {key}\n{other}",
    "Idempotency-Key: {key}\x00",
    "Idempotency-Key: {key}\r\n {other}",
    "Idempotency-Key : {key}",
    "Idempotency-Key: {key}\r\nContent-Length: 1{length}",
    "Idempotency-Key: {key}\r\nContent-Length: {length}",
    "Idempotency-Key: {key}\r\nidempotency-key: {other}",
    "Idempotency-Key: {key}\r\nIdempotency-Key: {key}",
    "Idempotency-Key: {key}\r\nProducer-Id: {producer}\r\nProducer-Id: other",
)
"""Forms that are not HTTP, or repeat a header with one value, so that the server ends the connection."""

_KEYS: Final = ("1", "2", "22", "Idempotency-Key:")
_PRODUCERS: Final = ("p", "q", "producer-1")


def filled(chance: Random, form: Lines, length: int) -> Lines:
    """Return a form with a key and a producer, often ones that were used before. `length`: of the body."""
    values = {
        "key": chance.choice(_KEYS),
        "other": chance.choice(_KEYS),
        "producer": chance.choice(_PRODUCERS),
        "length": length,
    }
    return Lines(*(tuple(line.format_map(values) for line in lines) for lines in form))
