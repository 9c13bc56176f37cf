"""Templates of heads: the server parses a head once that differs only in values of its own next time.

An append with an idempotency key has a head of its own, because the key is another one each time; so is the
length of a body of many entries, and each bulk append of the Python client has a producer of its own. A
template is such a head without these values. A later head is the template with other values, or it goes to
the parser.

Rules that must hold:

* Only the head of a hot request becomes a template, and only if the parser found the same values in it as
  `_parts_of`. So it has each of these headers once.
* A value has a form that the parser reads in one way only, and that `hot_route` accepts: see `_VARYING`.
* All other bytes are those of the template. This includes the order, the case and the spaces of its lines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from msgspec import Struct

from tailrace.api.hot.requests import HotRoute, route_with_headers
from tailrace.app.protocols.credentials import Credentials
from tailrace.app.protocols.hot_request import HotRequest
from tailrace.app.protocols.request_head import RequestHead

_END_OF_LINE: Final = b"\r\n"
_NAME: Final = re.compile(rb"[!-~]+")
"""A value without spaces. A client may send others too, but the parser may remove spaces from them."""

_LENGTH: Final = re.compile(rb"[1-9][0-9]{0,5}")


class _Varying(NamedTuple):
    """A header whose value a template omits. `mark`: what its line begins with, in lower case, after the end
    of the line before it."""

    name: bytes
    mark: bytes
    values: re.Pattern[bytes]


_VARYING: Final = tuple(
    _Varying(name, b"\r\n%b: " % name, values)
    for name, values in (
        (b"idempotency-key", _NAME),
        (b"producer-id", _NAME),
        (b"content-length", _LENGTH),
    )
)


class Filled(NamedTuple):
    """A template with the values of a head. `length`: of the body, in bytes."""

    head: RequestHead
    route: HotRoute
    credentials: Credentials
    length: int


class _Template(Struct, frozen=True):
    """A parsed head. `places`: the places of the varying headers among its headers."""

    head: RequestHead
    route: HotRoute
    credentials: Credentials
    places: Sequence[int]

    def filled(self, values: Sequence[bytes]) -> Filled:
        """Return the parsed head that has these values."""
        headers = list(self.head.headers)
        for place, varying, value in zip(self.places, _VARYING, values, strict=True):
            headers[place] = varying.name, value
        head = self.head._replace(headers=headers)
        return Filled(head, route_with_headers(self.route, headers), self.credentials, int(values[-1]))


class HeadTemplates:
    """The templates of one server. `count_max`: at this number, all are dropped."""

    def __init__(self, count_max: int) -> None:
        self._count_max = count_max
        self._templates: dict[bytes, _Template] = {}

    def find(self, raw: bytes) -> Filled | None:
        """Return what the parser would find in the head `raw`, None if no template fits. O(head)."""
        parts = _parts_of(raw)
        if parts is None:
            return None
        rest, values = parts
        template = self._templates.get(rest)
        return None if template is None else template.filled(values)

    def keep(self, raw: bytes, request: HotRequest) -> None:
        """Make a template of the head `raw`, which the parser has read as that of `request`."""
        parts = _parts_of(raw)
        if parts is None:
            return
        rest, values = parts
        headers = request.head.headers
        pairs = [(varying.name, value) for varying, value in zip(_VARYING, values, strict=True)]
        if rest in self._templates or any(headers.count(pair) != 1 for pair in pairs):
            return
        if len(self._templates) >= self._count_max:
            self._templates.clear()
        places = tuple(map(headers.index, pairs))
        self._templates[rest] = _Template(request.head, request.route, request.credentials, places)


def _parts_of(raw: bytes) -> tuple[bytes, Sequence[bytes]] | None:
    """Return a head without its varying values, and these values in the order of `_VARYING`. None if it lacks
    one of the headers, or if a value has a form that only the parser reads."""
    values = []
    for _, mark, accepted in _VARYING:
        begin = raw.lower().find(mark) + len(mark)
        if begin < len(mark):
            return None
        end = raw.find(_END_OF_LINE, begin)
        value = raw[begin:end]
        if accepted.fullmatch(value) is None:
            return None
        values.append(value)
        raw = raw[:begin] + raw[end:]
    return raw, values
