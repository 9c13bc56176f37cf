"""The port of a place: what reading, writing and comparing need of a data directory, a server or a Cluster.

It owns the types of commands and replies, and the errors. It contains no I/O.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple, Protocol, TypeAlias, cast

from tailrace.app.cli.migrate.policies import Rules, Settings, StreamPolicies
from tailrace.core.stream_id import StreamId, parse_id

Words: TypeAlias = Sequence[bytes]
"""One command."""

SCAN_COUNT: Final = 1_000
"""Keys that one step of a scan examines."""


class Refusal(NamedTuple):
    """An error reply. `line`: the error line, without a leading `-`."""

    line: str


Reply: TypeAlias = "int | bytes | Refusal | list[Reply] | None"
"""The reply to a command, as in RESP2: maps are flat lists."""

Fields: TypeAlias = tuple[bytes, ...]
"""Names and values of an entry, alternating; names may repeat."""


class Entry(NamedTuple):
    """One entry of a stream."""

    id: StreamId
    fields: Fields


class CannotMigrate(Exception):
    """The migration cannot continue. The text is one sentence for the user."""


class PlaceDown(CannotMigrate):
    """A place gave no answer, or asks to try again later. The commands may or may not have taken effect."""


class TooLarge(CannotMigrate):
    """A reply or a request exceeds a limit of the place. A smaller one can succeed."""


class Abilities(NamedTuple):
    """What a place can hold beyond Redis 7.0.

    `unowned`: pending entries without an owner (XNACK, Redis 8.8). `settings`: settings of one stream
    (XCFGSET, Redis 8.6). `expiry`: keys that expire. `name_bytes_max`: the longest name of a key, a group or
    a consumer; None: no limit. `group_settings`: settings of groups, which only Tailrace has.
    `settings_held`: the names of those that the place has; None: all.
    `retention`: the names of the rules of a retention that it has. `bounds_entries`: an entry has the limits
    of Tailrace.
    """

    unowned: bool
    settings: bool
    expiry: bool
    name_bytes_max: int | None
    group_settings: bool = False
    settings_held: frozenset[str] | None = None
    retention: frozenset[str] = frozenset()
    bounds_entries: bool = False


class Place(Protocol):
    """One end of a migration. One thread at a time may use it.

    `name`: the address without secrets. `engine`: name and version of what runs there.
    """

    name: str
    engine: str
    abilities: Abilities

    def run(self, commands: Sequence[Words], key: bytes, *, atomic: bool = False) -> list[Reply]:
        """Run commands that concern `key`, in order. `atomic`: at one instant, as MULTI does.

        A refused command has a `Refusal` in its place. Raises `PlaceDown` or `CannotMigrate`.
        """
        ...

    def append(self, key: bytes, entries: Sequence[Entry]) -> None:
        """Append entries with their ids, all or none. Raises `PlaceDown` or `CannotMigrate`."""
        ...

    def group_settings(self, key: bytes) -> dict[bytes, Settings]:
        """Return the settings of the groups that have any. Raises `PlaceDown` or `CannotMigrate`."""
        ...

    def configure(self, key: bytes, group: bytes, settings: Settings) -> None:
        """Replace the settings of a group. Raises `PlaceDown` or `CannotMigrate`."""
        ...

    def stream_policies(self, key: bytes) -> StreamPolicies:
        """Return the retention and the scheduled entries. Raises `PlaceDown` or `CannotMigrate`."""
        ...

    def retain(self, key: bytes, rules: Rules) -> None:
        """Replace the rules of the stream's retention. Raises `PlaceDown` or `CannotMigrate`."""
        ...

    def keys(self, patterns: Sequence[bytes]) -> Iterator[bytes]:
        """Return the keys of streams that match a pattern; a key may be returned again."""
        ...

    def close(self) -> None:
        """Close all connections."""
        ...


# --- replies -------------------------------------------------------------------------------------------


def accepted(reply: Reply, words: Words) -> Reply:
    """Return the reply. Raises `CannotMigrate` if it is a refusal."""
    if isinstance(reply, Refusal):
        raise CannotMigrate(f"{shown(words)} was refused: {reply.line}")
    return reply


def items(reply: Reply) -> list[Reply]:
    """Return the items of an array; none for a null array."""
    return cast("list[Reply]", reply) if reply else []


def number(reply: Reply) -> int:
    """Return a reply that is an integer, or its text."""
    return int(cast("bytes", reply))


def id_of(reply: Reply) -> StreamId:
    """Return a reply that is an id."""
    return parse_id(cast("bytes", reply))


def entries_of(reply: Reply) -> list[Entry]:
    """Return the entries of an XRANGE."""
    found = []
    for row in items(reply):
        value, fields = items(row)
        found.append(Entry(id_of(value), tuple(cast("list[bytes]", items(fields)))))
    return found


def as_map(reply: Reply) -> dict[bytes, Reply]:
    """Return a flat list of names and values as a dictionary."""
    flat = items(reply)
    return dict(zip(cast("list[bytes]", flat[::2]), flat[1::2], strict=True))


def shown(words: Words) -> str:
    """Return the first words of a command for a message."""
    return " ".join(text(word) for word in words[:3])


def text(name: bytes) -> str:
    """Return a name for a message; bytes that are not UTF-8 are escaped."""
    return name.decode("utf-8", "backslashreplace")


# --- common steps of all kinds -------------------------------------------------------------------------


def one(place: Place, *words: bytes) -> Reply:
    """Run one command whose key is its second word. Raises `CannotMigrate` if it is refused."""
    return accepted(place.run([words], words[1])[0], words)


def run_all(place: Place, commands: Iterable[Words], key: bytes) -> None:
    """Run commands that must not be refused."""
    given = list(commands)
    if given:
        for reply, words in zip(place.run(given, key), given, strict=True):
            accepted(reply, words)


def scan(run: Callable[[Words], Reply], patterns: Sequence[bytes]) -> Iterator[bytes]:
    """Return the keys of streams of one node that match a pattern."""
    for pattern in patterns:
        cursor = b"0"
        while True:
            cursor, keys = _scanned(run(_scan_step(cursor, pattern)))
            yield from keys
            if cursor == b"0":
                break


def _scan_step(cursor: bytes, pattern: bytes) -> Words:
    """Return the command of one step of a scan for streams."""
    return (b"SCAN", cursor, b"MATCH", pattern, b"COUNT", b"%d" % SCAN_COUNT, b"TYPE", b"stream")


def _scanned(reply: Reply) -> tuple[bytes, list[bytes]]:
    """Return the next cursor and the keys of a step of a scan."""
    cursor, keys = items(reply)
    return cast("bytes", cursor), cast("list[bytes]", items(keys))
