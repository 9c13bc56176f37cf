"""`tailrace tail`: prints the last entries of streams and follows new entries."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Annotated, Final

import typer

from tailrace.app.cli.client_command import connected, fail, on_server
from tailrace.app.cli.completions import complete_stream
from tailrace.app.cli.following.entries import Line, Written, as_json, as_text, from_template, print_lines
from tailrace.app.cli.following.follow import (
    Follower,
    GroupMember,
    Wanted,
    acknowledge,
    is_pattern,
    matching_streams,
    position_before,
    read_group,
    stored_entries,
)
from tailrace.app.cli.output import note
from tailrace.app.cli.quantities import first_id
from tailrace.app.cli.server import Server, stream_path
from tailrace.core.limits import PAGE_ENTRIES_MAX, READ_STREAMS_MAX

LAST_DEFAULT: Final = 10


@on_server
def tail(  # noqa: PLR0913 - one parameter an option
    streams: Annotated[
        list[str],
        typer.Argument(
            metavar="KEY...",
            help="Streams, or patterns like 'race:*'.",
            autocompletion=complete_stream,
            show_default=False,
        ),
    ],
    *,
    last: Annotated[
        int | None,
        typer.Option(
            "-n",
            "--last",
            min=0,
            max=PAGE_ENTRIES_MAX,
            metavar="COUNT",
            help=f"Print the last COUNT entries of each stream. Default: {LAST_DEFAULT}; with --from, all.",
            show_default=False,
        ),
    ] = None,
    from_: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="WHEN",
            help="Start at an id, a time (2026-07-14T15:30), an age (10m), or -, the beginning.",
            show_default=False,
        ),
    ] = None,
    filter_: Annotated[
        str | None,
        typer.Option(
            "--filter",
            metavar="CONDITION",
            help="Print only entries that match, such as 'fields.speed == \"30.2\"' (docs/filters.md).",
            show_default=False,
        ),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="TEXT",
            help="Print TEXT for each entry; {time}, {key}, {id}, {fields}, and {NAME} for a field's value.",
            show_default=False,
        ),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(metavar="GROUP", help="Read as a consumer of this group.", show_default=False),
    ] = None,
    consumer: Annotated[
        str | None, typer.Option(metavar="NAME", help="The consumer's name.", show_default=False)
    ] = None,
    follow: Annotated[bool, typer.Option("-f", "--follow", help="Continue with new entries.")] = False,
    as_json_lines: Annotated[bool, typer.Option("--json", help="Print one JSON object per entry.")] = False,
    ack: Annotated[
        bool, typer.Option("--ack", help="With --group: acknowledge entries after printing them.")
    ] = False,
) -> None:
    """Print the last entries of streams, and with -f new ones until Ctrl-C.

    With -f the command reconnects after a lost connection, and neither
    misses nor repeats an entry. It also follows new streams that match a
    pattern.

    With --group it reads as a consumer of the group: up to COUNT new entries,
    with -f all new entries. Without --ack they stay pending.

    Exit status: 0; 1 if the server refuses or a stream does not exist; 2 for
    wrong arguments; 130 after Ctrl-C.

    [bold]Examples[/bold]

      tailrace tail race:france

      tailrace tail -f 'race:*' --from 10m

      tailrace tail -f race:france --json --filter 'double(fields.speed) > 30'

      tailrace tail -f race:italy --group italy_riders --consumer Alice --ack
    """
    wanted = _wanted(last, from_, filter_)
    reader = _reader(group, consumer, ack=ack)
    if reader is not None and from_ is not None:
        raise typer.BadParameter("--from and --group exclude each other: the group stores its own position")
    if reader is not None and filter_ is not None:
        raise typer.BadParameter("--filter and --group exclude each other: use `tailrace configure --filter`")
    if form is not None and as_json_lines:
        raise typer.BadParameter("--format and --json exclude each other")
    names = list(dict.fromkeys(map(os.fsencode, streams)))
    with connected() as server:
        keys = _keys(server, names, must_exist=not follow)
        several = len(names) > 1 or any(map(is_pattern, names))
        written = _written(form, as_json_lines=as_json_lines, with_key=several)
        if reader is not None:
            _as_consumer(server, keys, reader, wanted, written, follow=follow)
            return
        positions = dict.fromkeys(keys, position_before(wanted))
        positions |= print_lines(stored_entries(server, keys, wanted), written)
        if follow:
            find_more = partial(_keys, server, names) if any(map(is_pattern, names)) else None
            follower = Follower(server, positions, None, find_more, _notice, wanted.parameters)
            for lines in follower.entries():
                print_lines(lines, written)


def _wanted(last: int | None, from_: str | None, condition: str | None) -> Wanted:
    if from_ is None:
        return Wanted(LAST_DEFAULT if last is None else last, None, condition)
    try:
        return Wanted(last, first_id(from_, time.time_ns() // 1_000_000), condition)
    except ValueError as error:
        raise typer.BadParameter(f"--from: {error}") from None


def _reader(group: str | None, consumer: str | None, *, ack: bool) -> GroupMember | None:
    if group is None or consumer is None:
        if group is not None or consumer is not None or ack:
            raise typer.BadParameter("--group and --consumer must be given together, and --ack requires both")
        return None
    return GroupMember(os.fsencode(group), os.fsencode(consumer), ack)


def _keys(server: Server, names: Sequence[bytes], *, must_exist: bool = False) -> list[bytes]:
    """Return the keys that `names`, keys or patterns, select. Ends the command if there are too many."""
    found: dict[bytes, None] = {}
    for name in names:
        matching = matching_streams(server, name) if is_pattern(name) else [name]
        if must_exist and not is_pattern(name):
            server.request("GET", stream_path(name))
        if must_exist and not matching:
            fail(f"no stream matches {os.fsdecode(name)!r}")
        found |= dict.fromkeys(matching)
    if len(found) > READ_STREAMS_MAX:
        fail(
            f"{len(found)} streams match, and at most {READ_STREAMS_MAX} can be followed: use a narrower "
            "pattern"
        )
    return list(found)


# --- printing --------------------------------------------------------------------------------------


def _written(form: str | None, *, as_json_lines: bool, with_key: bool) -> Written:
    if as_json_lines:
        return partial(as_json, with_key=with_key)
    if form is not None:
        return partial(from_template, form)
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return partial(as_text, with_key=with_key, colour=colour)


def _notice(sentence: str) -> None:
    note(sentence)


# --- as a consumer ---------------------------------------------------------------------------------


def _as_consumer(
    server: Server,
    keys: Sequence[bytes],
    reader: GroupMember,
    wanted: Wanted,
    written: Written,
    *,
    follow: bool,
) -> None:
    if follow:
        batches: Iterator[list[Line]] = Follower(
            server, dict.fromkeys(keys, ""), reader, None, _notice
        ).entries()
    else:
        batches = _once(server, keys, reader, wanted.most or LAST_DEFAULT)
    for lines in batches:
        print_lines(lines, written)


def _once(server: Server, keys: Sequence[bytes], reader: GroupMember, most: int) -> Iterator[list[Line]]:
    """Read once as a consumer and yield the entries of each stream.

    A batch is acknowledged when the caller requests the next one.
    """
    by_key: dict[bytes, list[Line]] = {}
    for line in read_group(server, keys, reader.group, reader.consumer, most):
        by_key.setdefault(line.key, []).append(line)
    for lines in by_key.values():
        yield lines
        acknowledge(server, reader, lines)
