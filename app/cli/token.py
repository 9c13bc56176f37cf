"""`tailrace token`: creates, lists and revokes tokens. A running server applies changes within a second."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final, TypeVar, cast

import msgspec
import typer

from tailrace.api.principals import TokenScope
from tailrace.app.cli.client_command import ClientCommand, command_group
from tailrace.app.cli.output import note, say, say_json, visible
from tailrace.app.cli.paths import DataDirOption, TokensFileOption
from tailrace.app.clock import system_clock_ms
from tailrace.app.reasons import reason
from tailrace.app.tokens.file import (
    DEFAULT_NAME,
    BadTokensFile,
    DamagedEntry,
    Entry,
    changing_tokens,
    read_entries,
)
from tailrace.app.tokens.tokens import (
    PREFIX,
    TokenRecord,
    duration_ms_from,
    name_from,
    new_token,
    pattern_from,
)
from tailrace.app.tokens.usage import read_usage

_COLUMNS: Final = ("id", "name", "scopes", "keys", "created", "expires", "last used")


def described(record: TokenRecord) -> str:
    """Return the id, name, scopes, keys and expiry of a token as text."""
    until = "" if record.expires_at_ms is None else f", until {_time(record.expires_at_ms)}"
    keys = " ".join(record.keys)
    return f"{record.id} ({record.name}): {' '.join(record.scopes)} on {keys}{until}"


def described_damage(entry: DamagedEntry) -> str:
    """Return the id and name of a damaged entry, and the reason why the server ignores it, on one line."""
    return f"{labelled(entry)}: {entry.reason}"


def labelled(entry: Entry) -> str:
    """Return the id and the name of an entry on one line."""
    return f"{entry.id} ({entry.name})"


def json_row(entry: Entry, last_used_at_ms: int | None) -> dict[str, object]:
    """Return the members of a token without its digest; for a damaged entry, the reason it is ignored."""
    if isinstance(entry, DamagedEntry):
        return {"id": entry.id, "name": entry.name, "ignored": entry.reason}
    row: dict[str, object] = msgspec.to_builtins(entry)
    del row["sha256"]
    return {**row, "last_used_at_ms": last_used_at_ms}


def table(entries: Sequence[Entry], used_at_ms: Mapping[str, int]) -> list[str]:
    """Return a heading and one line per valid token, in aligned columns.

    `used_at_ms`: the last use by token id, in Unix milliseconds. Values are never shortened, because scripts
    may read the table.
    """
    tokens = [entry for entry in entries if isinstance(entry, TokenRecord)]
    rows = [_COLUMNS, *(tuple(map(visible, _row(each, used_at_ms.get(each.id)))) for each in tokens)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def _row(record: TokenRecord, used_at_ms: int | None) -> tuple[str, ...]:
    return (
        record.id,
        record.name,
        " ".join(record.scopes),
        " ".join(record.keys),
        _time(record.created_at_ms),
        _expiry(record.expires_at_ms),
        "-" if used_at_ms is None else _time(used_at_ms),
    )


def _expiry(expires_at_ms: int | None) -> str:
    if expires_at_ms is None:
        return "never"
    past = " (expired)" if expires_at_ms <= system_clock_ms() else ""
    return _time(expires_at_ms) + past


def _time(unix_ms: int) -> str:
    return datetime.fromtimestamp(unix_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%MZ")


ParsedT = TypeVar("ParsedT")

token: Final = command_group("Create, list and revoke tokens.")


class ScopeName(StrEnum):
    """The scopes of a token."""

    READ = "read"
    APPEND = "append"
    CONSUME = "consume"
    ADMIN = "admin"


def _parsed(parse: Callable[[str], ParsedT], text: str) -> ParsedT:
    """Return `parse(text)`. A `ValueError` becomes a wrong argument."""
    try:
        return parse(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _name(text: str | None) -> str | None:
    return None if text is None else _parsed(name_from, text)


def _duration(text: str | None) -> str | None:
    if text is not None:
        _parsed(duration_ms_from, text)
    return text


def _patterns(texts: list[str] | None) -> list[str] | None:
    return None if texts is None else [_parsed(pattern_from, text) for text in texts]


@token.command(cls=ClientCommand)
def create(
    scope: Annotated[
        list[ScopeName],
        typer.Option(
            help="A scope of the token; repeat for each. No scope includes another.", show_default=False
        ),
    ],
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="The name in lists and logs; several tokens may have the same name.",
            show_default=False,
            callback=_name,
        ),
    ] = None,
    keys: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN",
            help="Keys that it may use, a glob such as 'race:*'; repeat for each. Default: '*', all keys.",
            show_default=False,
            callback=_patterns,
        ),
    ] = None,
    expires: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Time until it expires: 90s, 45m, 12h, 30d or 2w. Default: never.",
            show_default=False,
            callback=_duration,
        ),
    ] = None,
    tokens_file: TokensFileOption = None,
    data_dir: DataDirOption = Path("data"),
) -> None:
    """Create a token and print it. It is shown only once; the file has only its hash.

    Standard output has the token and nothing else. To rotate a token, create a
    new one, give it to the users of the old one, then revoke the old one.

    [bold]Examples[/bold]

      tailrace token create ingest --scope append --keys 'race:*' --expires 30d

      tailrace token create ops --scope read --scope admin > ops.token
    """
    path = tokens_file or data_dir / DEFAULT_NAME
    made = new_token(
        name,
        cast("list[TokenScope]", [each.value for each in scope]),
        keys or ["*"],
        system_clock_ms(),
        None if expires is None else duration_ms_from(expires),
    )
    with _failing_in_one_line(path), changing_tokens(path) as tokens:
        tokens.append(made.record)
    say(made.text)
    note(f"created {described(made.record)}, in {path}")


@token.command("list", cls=ClientCommand)
def list_tokens(
    *,
    json: Annotated[
        bool, typer.Option("--json", help="Print JSON, with times in Unix milliseconds.")
    ] = False,
    tokens_file: TokensFileOption = None,
    data_dir: DataDirOption = Path("data"),
) -> None:
    """List the tokens: scopes, keys, expiry, and the last use (to the minute).

    [bold]Example[/bold]

      tailrace token list
    """
    path = tokens_file or data_dir / DEFAULT_NAME
    with _failing_in_one_line(path):
        entries = read_entries(path)
    used_at_ms = read_usage(path)
    if json:
        rows = [json_row(entry, used_at_ms.get(entry.id)) for entry in entries]
        say_json(rows, indent=2)
    else:
        for row in table(entries, used_at_ms):
            say(row)
    for entry in entries:
        if isinstance(entry, DamagedEntry):
            remedy = f"to remove it: tailrace token revoke {entry.id}"
            note(f"ignored {described_damage(entry)}; {remedy}")


@token.command(cls=ClientCommand)
def revoke(
    tokens: Annotated[
        list[str],
        typer.Argument(
            metavar="ID", help="Ids of tokens, or names that only one token has.", show_default=False
        ),
    ],
    tokens_file: TokensFileOption = None,
    data_dir: DataDirOption = Path("data"),
) -> None:
    """Revoke tokens. If one of them is unknown, none is revoked.

    The server closes their WebSockets, tails and waiting reads. The command
    also removes damaged entries that `tailrace token list` names.

    [bold]Example[/bold]

      tailrace token revoke 3f9a0c27b1d4
    """
    path = tokens_file or data_dir / DEFAULT_NAME
    with _failing_in_one_line(path):
        read_entries(path)
        with changing_tokens(path) as known:
            revoked = [entry for each in dict.fromkeys(tokens) for entry in _found(known, each)]
            known[:] = [entry for entry in known if entry not in revoked]
    for entry in dict.fromkeys(revoked):
        say(f"revoked {labelled(entry)}")


def _found(known: Sequence[Entry], wanted: str) -> Sequence[Entry]:
    """Return the entries with the id `wanted` (damaged ones may share it), or the only one of that name."""
    if wanted.startswith(PREFIX):
        raise typer.BadParameter(
            "this is a token, and other users see arguments in the process list. Give the id or the name: "
            "the id is the part between the two underscores"
        )
    if found := [entry for entry in known if entry.id == wanted]:
        return found
    found = [entry for entry in known if entry.name == wanted]
    if len(found) == 1:
        return found
    if not found:
        raise BadTokensFile(f"no token has the id or the name {wanted!r}; nothing was revoked")
    ids = ", ".join(entry.id for entry in found)
    raise BadTokensFile(f"{len(found)} tokens have the name {wanted!r}: {ids}; nothing was revoked")


@contextmanager
def _failing_in_one_line(path: Path) -> Iterator[None]:
    """Turn errors of the tokens file into one sentence and exit status 1."""
    try:
        yield
    except BadTokensFile as error:
        sentence = str(error)
    except OSError as error:
        sentence = f"cannot use the tokens file {path}: {reason(error)}"
    else:
        return
    note(sentence)
    raise typer.Exit(1)
