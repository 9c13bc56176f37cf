"""The largest appends: single entries, batches and imports. `bench.largest_cases` owns other operations."""

from __future__ import annotations

import gzip
from typing import Final

from bench.largest_forms import append_case, batch_case, import_case, refused
from bench.largest_streams import MIB, State, line_of
from tailrace.core.limits import BATCH_ENTRIES_MAX, BODY_BYTES_MAX, ENTRY_BYTES_MAX, FIELDS_PER_ENTRY_MAX


def _lines(state: State, most: int = BATCH_ENTRIES_MAX) -> bytes:
    return b"".join(map(line_of, range(state.count(most))))


def _other_names(state: State) -> bytes:
    return b"".join(b'{"f%d":"v","g%d":"w"}\n' % (n, n) for n in range(state.count(BATCH_ENTRIES_MAX)))


def _many_members(state: State) -> bytes:
    line = b"{" + b",".join(b'"f%d":"v"' % n for n in range(18)) + b"}\n"
    return line * state.count(99_000)


APPENDS: Final = (
    append_case("one value of 15 MiB", lambda s: {"fields": {"v": s.text(15 * MIB)}}),
    append_case("escapes", lambda s: {"fields": {"v": s.text(ENTRY_BYTES_MAX // 6 - 9, "\0")}}),
    append_case(
        "fields", lambda s: {"fields": {f"f{n}": "v" for n in range(s.count(FIELDS_PER_ENTRY_MAX - 1))}}
    ),
    append_case(
        "pairs in base64",
        lambda s: {"pairs": [["Zg==", "/w=="]] * s.count(FIELDS_PER_ENTRY_MAX - 1), "encoding": "base64"},
    ),
    refused(
        append_case("a body of 64 MiB, refused", lambda s: {"fields": {"v": s.text(BODY_BYTES_MAX - 32)}})
    ),
    batch_case(
        "entries",
        lambda s: [{"fields": {"rider": "Castilla", "n": str(n)}} for n in range(s.count(BATCH_ENTRIES_MAX))],
    ),
    batch_case(
        "entries with ids and other names",
        lambda s: [{"id": f"{n + 1}-1", "fields": {f"f{n}": "v"}} for n in range(s.count(BATCH_ENTRIES_MAX))],
        # Its ids are below those that the server makes for the other batches.
        stream="batch-ids",
    ),
    batch_case("60 MiB in 100 entries", lambda s: [{"fields": {"v": s.text(600_000)}}] * 100),
    batch_case("members", lambda s: [{"fields": {f"f{n}": "v" for n in range(17)}}] * s.count(99_000)),
    batch_case(
        "pairs in base64",
        lambda s: [{"pairs": [["Zg==", "/w=="]], "encoding": "base64"}] * s.count(BATCH_ENTRIES_MAX),
    ),
    import_case("entries", _lines),
    import_case("64 MiB", lambda s: (b'{"f":"' + b"x" * 650 + b'"}\n') * s.count(99_000)),
    import_case("64 MiB, entries of 4 KiB", lambda s: (b'{"f":"' + b"x" * 4_080 + b'"}\n') * s.count(16_000)),
    import_case("other names", _other_names),
    import_case("members", _many_members),
    refused(import_case("the last line malformed", lambda s: _lines(s, BATCH_ENTRIES_MAX - 1) + b'{"f":}\n')),
    refused(import_case("zeros in gzip", lambda s: gzip.compress(b"\0" * s.count(BODY_BYTES_MAX)), "gzip")),
    import_case("entries in gzip", lambda s: gzip.compress(_lines(s)), "gzip"),
    refused(import_case("empty members of gzip", lambda s: gzip.compress(b"") * s.count(200_000), "gzip")),
    refused(import_case("commas", lambda s: b'{"f":' + b"," * s.count(BODY_BYTES_MAX - 64) + b"}")),
)
